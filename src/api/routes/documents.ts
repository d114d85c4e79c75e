/** The documentation at `/docs`: pages as HTML to browsers, those with a source as Markdown to everything else. */
import { createReadStream, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { describeEndpoints } from '../endpoint-description.ts';
import { findExampleFile } from '../pages/example-pictures.ts';
import { renderModelIndex } from '../pages/model-pages.ts';
import { PAGE_POLICY } from '../pages/page.ts';
import { renderMissing, renderResults } from '../pages/search.ts';
import { readExampleProgram, type Site } from '../pages/site.ts';
import { createStaticFile, type StaticFile, sendStaticFile } from '../pages/static-file.ts';
import { sendStream } from '../send-stream.ts';

const asset = (name: string, type: string) =>
  createStaticFile(type, readFileSync(new URL(`../pages/assets/${name}`, import.meta.url), 'utf8'));
const ASSETS: ReadonlyMap<string, StaticFile> = new Map([
  ['site.css', asset('site.css', 'text/css; charset=utf-8')],
  ['site.js', asset('site.js', 'text/javascript; charset=utf-8')],
]);

const LONGEST_QUERY = 100;
/** The status of the models changes seldom, and nobody needs a key to ask for it. */
const STATUS_AGE_MS = 5_000;

/** `GET /`: redirects browsers to the documentation. Everything else falls through to the 404 of `errors`. */
export function getRoot(context: ApiContext): void {
  context.vary('Accept');
  if (context.accepts('application/json', 'text/html') === 'text/html') context.redirect('/docs');
}

export function createDocumentRoutes(site: Site, endpoints: readonly EndpointContract[], clock: () => Date) {
  let status: { file: StaticFile; readAt: number } | null = null;

  /** Browsers get a page that leads on; to everything else it is an error as any other. */
  function missing(context: ApiContext): void {
    context.vary('Accept');
    if (context.accepts('application/json', 'text/html') !== 'text/html') {
      throw new ServiceError('resource_not_found', `There is no page ${context.path}.`);
    }
    const typed = context.path.replace(/\/$/, '');
    if (typed !== context.path && site.findPage(typed)) {
      context.redirect(typed);
      return;
    }
    setPolicy(context);
    context.status = 404;
    context.type = 'text/html; charset=utf-8';
    context.body = site.renderPage(context.path, 'There is no such page', renderMissing(context.path));
  }

  return {
    /** `GET /docs` and every page below it that stays the same. */
    page: (context: ApiContext): void => {
      const page = site.findPage(context.path);
      if (!page) {
        missing(context);
        return;
      }
      context.vary('Accept');
      if (page.markdown !== null && context.accepts('text/markdown', 'text/html') !== 'text/html') {
        context.type = 'text/markdown; charset=utf-8';
        context.body = page.markdown;
        return;
      }
      sendPage(context, page.html());
    },

    /** `GET /docs/models`: which endpoints answer live keys. */
    models: async (context: ApiContext): Promise<void> => {
      const now = clock().getTime();
      if (status === null || now - status.readAt > STATUS_AGE_MS) {
        const statuses = await describeEndpoints(context.state.em, endpoints, true);
        const content = renderModelIndex(statuses, site.cards);
        const html = site.renderPage('/docs/models', 'Models', content);
        status = { file: createStaticFile('text/html; charset=utf-8', html), readAt: now };
      }
      sendPage(context, status.file);
    },

    /** `GET /docs/search?q=`: a page to browsers, and JSON to programs, such as the script that shows results while somebody types. */
    search: async (context: ApiContext): Promise<void> => {
      const query = String([context.query.q ?? ''].flat()[0])
        .trim()
        .slice(0, LONGEST_QUERY);
      const found = query === '' ? [] : await site.search(query);
      context.vary('Accept');
      context.set('Cache-Control', 'no-cache');
      if (context.accepts('application/json', 'text/html') !== 'text/html') {
        context.body = { query, results: found };
        return;
      }
      setPolicy(context);
      context.type = 'text/html; charset=utf-8';
      context.body = site.renderPage(
        '/docs/search',
        query === '' ? 'Search' : `Search: ${query}`,
        renderResults(query, found),
      );
    },

    asset: (context: ApiContext): void => {
      const name = String(context.params.name);
      const file = ASSETS.get(name);
      if (!file) throw new ServiceError('resource_not_found', `There is no /docs/assets/${name}.`);
      sendStaticFile(context, file);
    },

    /** `GET /docs/pictures/{slug}/{name}`: example pictures, and the files that test mode makes of them. */
    picture: async (context: ApiContext): Promise<void> => {
      const { slug, name } = context.params as { slug: string; name: string };
      const file = findExampleFile(slug, name);
      if (!file) throw new ServiceError('resource_not_found', `There is no picture ${slug}/${name}.`);
      const { size, mtimeMs } = await stat(file.url);
      context.status = 200;
      context.type = file.type;
      context.length = size;
      context.set('Cache-Control', 'public, max-age=3600');
      context.set('ETag', `W/"${size}-${mtimeMs}"`);
      context.set('X-Content-Type-Options', 'nosniff');
      if (context.fresh) context.status = 304;
      else if (context.method !== 'HEAD') sendStream(context, createReadStream(file.url));
    },

    /** `GET /docs/examples/{name}`: programs that the guides explain. */
    program: (context: ApiContext): void => {
      const name = String(context.params.name);
      const text = readExampleProgram(name);
      if (text === null) throw new ServiceError('resource_not_found', `There is no example ${name}.`);
      context.type = 'text/plain; charset=utf-8';
      context.set('X-Content-Type-Options', 'nosniff');
      context.body = text;
    },
  };
}

function sendPage(context: ApiContext, file: StaticFile): void {
  setPolicy(context);
  sendStaticFile(context, file);
}

function setPolicy(context: ApiContext): void {
  context.set('Content-Security-Policy', PAGE_POLICY);
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Referrer-Policy', 'no-referrer');
}
