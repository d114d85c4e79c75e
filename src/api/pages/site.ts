/** The documentation as a site: which pages there are, what they contain, and search over all of them. */
import { readFileSync } from 'node:fs';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { ERRORS } from '../../contracts/error-codes.ts';
import {
  exampleCall,
  renderEndpointCards,
  renderEndpointIndex,
  renderEndpointPage,
  renderTrial,
} from './endpoint-pages.ts';
import { renderExample } from './example-pictures.ts';
import { schemaPath } from './fields.ts';
import { type RenderPlace, renderMarkdown } from './markdown.ts';
import { cardPath, readModelCards, renderModelIndex } from './model-pages.ts';
import { GUIDES, guideFile, renderPage } from './page.ts';
import {
  type Described,
  type OpenApi,
  objectNames,
  operationsOf,
  renderObjectPage,
  renderOperationPage,
  renderReferenceIndex,
} from './reference-pages.ts';
import { createSearch } from './search.ts';
import { createStaticFile, type StaticFile } from './static-file.ts';

const PROJECT = new URL('../../../', import.meta.url);
const EXAMPLE_PROGRAM = /^[a-z-]+\.mjs$/;
/** In the pages of `docs/`, the address of the service that shows them. */
const EXAMPLE_ADDRESS = 'https://api.example.com';

interface SitePage {
  title: string;
  /** HTML of the article. */
  content: () => string;
  /** The source, for clients that are no browsers. */
  markdown?: string;
}

export interface SiteOptions {
  endpoints: readonly EndpointContract[];
  openApi: OpenApi;
  /** Address of the service, in the programs that the pages show. */
  publicBaseUrl: string;
  /** Whether the service has a console to link to. */
  hasConsole: boolean;
}

export type Site = ReturnType<typeof createSite>;

export function createSite({ endpoints, openApi, publicBaseUrl, hasConsole }: SiteOptions) {
  const origin = publicBaseUrl.replace(/\/$/, '');
  const bySlug = new Map(endpoints.map((endpoint) => [endpoint.slug, endpoint]));
  const cards = readModelCards();

  /** `<!-- example: slug -->`, `<!-- trial: slug -->` and `<!-- endpoints: all -->` in a page of `docs/`. */
  const place: RenderPlace = (name, slug) => {
    if (name === 'endpoints') return renderEndpointCards(endpoints);
    const endpoint = bySlug.get(slug);
    if (!endpoint) return '';
    const call = exampleCall(endpoint, origin);
    if (name === 'example') return renderExample(endpoint, call.fileNames.length);
    return name === 'trial' ? renderTrial(endpoint, call) : '';
  };

  const ofFile = (file: string, title: string): SitePage => {
    const markdown = readFileSync(new URL(file, PROJECT), 'utf8');
    return {
      title,
      markdown,
      content: () => renderMarkdown(withAddress(file, markdown), (target) => resolveLink(file, target), place),
    };
  };
  const withAddress = (file: string, text: string) =>
    file.startsWith('docs/errors/') ? text : text.replaceAll(EXAMPLE_ADDRESS, origin);

  const slugs = new Map(endpoints.flatMap(({ slug, aliases = [] }) => [slug, ...aliases].map((name) => [name, slug])));
  const pathOf = ({ operation: { operationId } }: Described) => {
    const slug = slugs.get(operationId);
    return slug === undefined ? `/docs/reference/${operationId}` : `/docs/endpoints/${slug}`;
  };
  const operations = operationsOf(openApi);
  const operationOf = (slug: string) => operations.find(({ operation }) => operation.operationId === slug);

  const pages = new Map<string, SitePage>([
    ['/docs', ofFile('docs/README.md', 'Documentation')],
    ...Object.entries(GUIDES).map(([name, title]) => [`/docs/${name}`, ofFile(guideFile(name), title)] as const),
    ['/docs/endpoints', { title: 'Endpoints', content: () => renderEndpointIndex(endpoints) }],
    ...endpoints.flatMap((endpoint) => {
      const described = operationOf(endpoint.slug);
      if (!described) return [];
      const content = () => renderEndpointPage(endpoint, described.operation, origin);
      return [[`/docs/endpoints/${endpoint.slug}`, { title: `${endpoint.slug}: ${endpoint.title}`, content }] as const];
    }),
    ['/docs/reference', { title: 'Reference', content: () => renderReferenceIndex(openApi, pathOf) }],
    ...operations
      .filter((described) => pathOf(described).startsWith('/docs/reference/'))
      .map((described) => {
        const content = () => renderOperationPage(described);
        return [pathOf(described), { title: described.operation.summary, content }] as const;
      }),
    ...objectNames(openApi).map(
      (name) => [schemaPath(name), { title: name, content: () => renderObjectPage(name, openApi) }] as const,
    ),
    ['/docs/errors', ofFile('docs/errors/README.md', 'Errors')],
    ...Object.keys(ERRORS).map((code) => [`/docs/errors/${code}`, ofFile(`docs/errors/${code}.md`, code)] as const),
    ...cards.map(
      ({ model, release }) =>
        [
          cardPath({ model, release }),
          ofFile(`models/${model}/${release}/MODEL_CARD.md`, `${model} ${release}`),
        ] as const,
    ),
    ['/docs/changelog', ofFile('CHANGELOG.md', 'Changelog')],
  ]);

  const rendered = new Map<string, StaticFile>();
  const frame = (path: string, title: string, content: string) =>
    renderPage({ title, path, content, endpoints, hasConsole });
  const search = once(() =>
    createSearch(
      [...pages, ['/docs/models', { title: 'Models', content: () => renderModelIndex([], cards) }] as const].map(
        ([path, { title, content }]) =>
          () => ({ path, title, content: content() }),
      ),
    ),
  );

  return {
    cards,
    paths: [...pages.keys()],
    /** Null for a page that there is not. */
    findPage(path: string): { html: () => StaticFile; markdown: string | null } | null {
      const page = pages.get(path);
      if (!page) return null;
      const html = () => {
        const known =
          rendered.get(path) ?? createStaticFile('text/html; charset=utf-8', frame(path, page.title, page.content()));
        rendered.set(path, known);
        return known;
      };
      return { html, markdown: page.markdown ?? null };
    },
    /** A page that is not the same for everybody, or not for long. */
    renderPage: frame,
    search: async (query: string) => (await search())(query),
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The program, or null. */
export function readExampleProgram(name: string): string | null {
  if (!EXAMPLE_PROGRAM.test(name)) return null;
  try {
    return readFileSync(new URL(`docs/examples/${name}`, PROJECT), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Maps a link in the project's files to its path on the site; null for pages that are not served, such as operators'. */
function resolveLink(file: string, target: string): string | null {
  const { origin, pathname, hash, href } = new URL(target, new URL(file, 'https://project.invalid/'));
  if (origin !== 'https://project.invalid') return href;
  if (target.startsWith('#') || target.startsWith('/')) return target;
  if (pathname === '/CHANGELOG.md') return `/docs/changelog${hash}`;
  if (pathname === `/${guideFile('python')}`) return `/docs/python${hash}`;
  const [, folder = '', name = ''] = /^\/docs\/(errors\/|examples\/)?([^/]+)$/.exec(pathname) ?? [];
  const page = name.replace(/\.md$/, '');
  const isServed =
    folder === 'examples/'
      ? EXAMPLE_PROGRAM.test(name)
      : folder === 'errors/'
        ? page === 'README' || Object.hasOwn(ERRORS, page)
        : page === 'README' || Object.hasOwn(GUIDES, page);
  if (!isServed) return null;
  if (page === 'README') return `/docs${folder === 'errors/' ? '/errors' : ''}${hash}`;
  return `/docs/${folder}${page}${hash}`;
}
