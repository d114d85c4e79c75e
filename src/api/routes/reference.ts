/** `GET /docs`: the reference, drawn in the browser by Swagger UI from `/openapi.json`. Nothing comes from elsewhere. */
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';

const FOLDER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
};

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Vehicle Inference Service: reference</title>
    <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/assets/swagger-ui-bundle.js"></script>
    <script src="/docs/assets/start.js"></script>
  </body>
</html>
`;

/** In a file of its own, because the page's policy allows no inline script. */
const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
});
`;

export function getReference(context: ApiContext): void {
  context.type = 'text/html; charset=utf-8';
  // Swagger UI sets styles from its script and draws its icons as data URLs.
  context.set(
    'Content-Security-Policy',
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'",
  );
  context.body = PAGE;
}

export function getReferenceAsset(context: ApiContext): void {
  const name = String(context.params.name);
  context.set('Cache-Control', 'public, max-age=3600');
  if (name === 'start.js') {
    context.type = 'text/javascript';
    context.body = START;
    return;
  }
  const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (type === undefined) throw new ServiceError('resource_not_found', `There is no /docs/assets/${name}.`);
  context.type = type;
  context.body = createReadStream(join(FOLDER, name));
}
