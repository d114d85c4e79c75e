/** `npm run -s openapi`: prints the OpenAPI document. */

import { endpoints } from '../endpoints/list.ts';
import { VARIABLES } from '../platform/config/config.ts';
import { buildOpenApi } from './openapi/document.ts';

const publicBaseUrl = process.env.PUBLIC_BASE_URL ?? VARIABLES.PUBLIC_BASE_URL.default ?? '';
console.log(JSON.stringify(buildOpenApi(endpoints, publicBaseUrl), null, 2));
