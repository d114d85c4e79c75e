/**
 * `/viewer`: the web components that show spins and hotspots on pages of any origin, and a page that shows the results of jobs with
 * them. `scripts/build-console.mjs` builds both. A page needs signed links only, so nothing here knows a key.
 */
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { createStaticFile, sendStaticFile } from '../pages/static-file.ts';
import type { OpenToPages } from './any-origin.ts';
import { readBuild, sendAsset } from './built-assets.ts';

const FOLDER = new URL('../../../viewer/dist/', import.meta.url);
const SCRIPT = /^vehicle-viewer-.*\.js$/;

export const VIEWER_PAGES: OpenToPages = { methods: 'GET, HEAD', exposedHeaders: 'ETag, Request-Id' };

/** @param pictureOrigins where the links in results lead */
export function createViewerRoutes(pictureOrigins: readonly string[], folder: URL = FOLDER) {
  const build = readBuild(folder);
  const page = build.page === null ? null : createStaticFile('text/html; charset=utf-8', build.page);
  const [, components] = [...build.assets].find(([name]) => SCRIPT.test(name)) ?? [];
  const script = components && createStaticFile('text/javascript; charset=utf-8', components.content.toString());
  const policy = policyOf(pictureOrigins);

  return {
    /** The page. The jobs are in the fragment of its address, which browsers send nowhere. */
    page: (context: ApiContext): void => {
      if (!page) throw notBuilt();
      context.set('Content-Security-Policy', policy);
      context.set('Referrer-Policy', 'no-referrer');
      sendStaticFile(context, page);
    },
    /** The components under an address that stays the same: pages of others survive a release. */
    script: (context: ApiContext): void => {
      if (!script) throw notBuilt();
      context.set('Cross-Origin-Resource-Policy', 'cross-origin');
      sendStaticFile(context, script);
    },
    asset: (context: ApiContext): void => sendAsset(context, build.assets),
  };
}

function notBuilt(): ServiceError {
  return new ServiceError(
    'resource_not_found',
    'The viewer is not built here. `npm ci` with the development dependencies builds it, and so does the image.',
  );
}

/** No frame: a key is typed into the page. */
function policyOf(pictureOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob: ${pictureOrigins.join(' ')}`.trim(),
    `media-src 'self' ${pictureOrigins.join(' ')}`.trim(),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
