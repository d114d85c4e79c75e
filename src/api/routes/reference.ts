/** `GET /docs`: the reference, rendered by Swagger UI from `/openapi.json`. All assets are served from here. */
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { PAGE_CSS, renderPage } from '../pages/page.ts';

const FOLDER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const PAGE = renderPage({
  title: 'Reference',
  place: '/docs',
  head: '<link rel="stylesheet" href="/docs/assets/swagger-ui.css">\n',
  content: `<div id="reference"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>`,
});

/** A file of its own, because the page's policy allows no inline script. */
const START_JS = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
});
`;

interface Asset {
  type: string;
  /** Omitted for files of Swagger UI. */
  text?: string;
}

const ASSETS: Readonly<Record<string, Asset>> = {
  'swagger-ui.css': { type: 'text/css' },
  'swagger-ui-bundle.js': { type: 'text/javascript' },
  'start.js': { type: 'text/javascript', text: START_JS },
  'page.css': { type: 'text/css', text: PAGE_CSS },
};

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
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (!asset) throw new ServiceError('resource_not_found', `There is no /docs/assets/${name}.`);
  context.type = asset.type;
  context.body = asset.text ?? createReadStream(join(FOLDER, name));
}
