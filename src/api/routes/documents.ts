/**
 * Serves the customer pages of `docs/`: as HTML to browsers, as Markdown to everything else.
 */
import { readFile } from 'node:fs/promises';
import { ERRORS } from '../../contracts/error-codes.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { renderMarkdown } from '../pages/markdown.ts';
import { GUIDES, PAGE_POLICY, renderPage } from '../pages/page.ts';

const FOLDER = new URL('../../../docs/', import.meta.url);
const EXAMPLE = /^[a-z-]+\.mjs$/;

/** `GET /`: redirects browsers to the reference. Everything else falls through to the 404 of `errors`. */
export function getRoot(context: ApiContext): void {
  context.vary('Accept');
  if (context.accepts('application/json', 'text/html') === 'text/html') context.redirect('/docs');
}

/** `GET /docs/errors`: all codes. */
export async function getErrorIndex(context: ApiContext): Promise<void> {
  await sendDocument(context, 'errors/README.md', { title: 'Errors', place: '/docs/errors' });
}

/** `GET /docs/errors/{code}`: the target of `doc_url`. */
export async function getErrorPage(context: ApiContext): Promise<void> {
  const code = String(context.params.code);
  if (!Object.hasOwn(ERRORS, code)) throw new ServiceError('resource_not_found', `There is no error code ${code}.`);
  await sendDocument(context, `errors/${code}.md`, { title: code, place: '/docs/errors' });
}

/** `GET /docs/{guide}` */
export async function getGuide(context: ApiContext): Promise<void> {
  const name = String(context.params.guide);
  const title = Object.hasOwn(GUIDES, name) ? GUIDES[name] : undefined;
  if (title === undefined) throw new ServiceError('resource_not_found', `There is no guide ${name}.`);
  await sendDocument(context, `${name}.md`, { title, place: `/docs/${name}` });
}

/** `GET /docs/examples/{name}`: programs that the guides explain. */
export async function getExample(context: ApiContext): Promise<void> {
  const name = String(context.params.name);
  const text = EXAMPLE.test(name) ? await readText(`examples/${name}`) : null;
  if (text === null) throw new ServiceError('resource_not_found', `There is no example ${name}.`);
  context.type = 'text/plain; charset=utf-8';
  context.set('X-Content-Type-Options', 'nosniff');
  context.body = text;
}

async function sendDocument(
  context: ApiContext,
  file: string,
  { title, place }: { title: string; place: string },
): Promise<void> {
  const text = await readFile(new URL(file, FOLDER), 'utf8');
  context.vary('Accept');
  // The first type is the default for `Accept: */*`, which curl sends.
  if (context.accepts('text/markdown', 'text/html') !== 'text/html') {
    context.type = 'text/markdown; charset=utf-8';
    context.body = text;
    return;
  }
  const content = `<main><article>\n${renderMarkdown(text, (target) => resolveLink(file, target))}\n</article></main>`;
  context.type = 'text/html; charset=utf-8';
  context.set('Content-Security-Policy', PAGE_POLICY);
  context.body = renderPage({ title, place, content });
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(new URL(file, FOLDER), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Maps a link in `docs/` to its served path; null for operator pages, which are not served. */
function resolveLink(file: string, target: string): string | null {
  const { origin, pathname, hash, href } = new URL(target, new URL(file, 'https://project.invalid/docs/'));
  if (origin !== 'https://project.invalid') return href;
  if (target.startsWith('#')) return target;
  const [, folder = '', name = ''] = /^\/docs\/(errors\/|examples\/)?([^/]+)$/.exec(pathname) ?? [];
  const page = name.replace(/\.md$/, '');
  const isServed =
    folder === 'examples/'
      ? EXAMPLE.test(name)
      : folder === 'errors/'
        ? isErrorPage(page)
        : Object.hasOwn(GUIDES, page);
  if (!isServed) return null;
  return `/docs/${folder === 'errors/' && page === 'README' ? 'errors' : folder + page}${hash}`;
}

const isErrorPage = (page: string) => page === 'README' || Object.hasOwn(ERRORS, page);
