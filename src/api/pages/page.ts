/** The frame of every page: head, search, navigation, and the headings of the page. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { escapeHtml } from './markdown.ts';

/** Pages that customers read, in the order in which they are offered. */
export const GUIDES: Readonly<Record<string, string>> = {
  quickstart: 'Quickstart',
  console: 'Console',
  'command-line': 'Command line',
  client: 'Clients',
  python: 'Python client',
  viewer: 'Viewer',
  pictures: 'Pictures',
  uploads: 'Uploads and files',
  idempotency: 'Idempotency',
  webhooks: 'Webhooks',
  'test-mode': 'Test mode',
  credits: 'Credits',
  'api-keys': 'API keys',
  management: 'Management',
  billing: 'Billing',
  'sdk-licenses': 'SDK licences',
  bounds: 'Bounds',
};

/** Their sources. The package of the Python client contains its own. */
export const guideFile = (name: string) => (name === 'python' ? 'clients/python/README.md' : `docs/${name}.md`);

/** The first guides: how to call the service. */
const TOOLS = ['quickstart', 'console', 'command-line', 'client', 'python'];

/** The families of endpoints, as the pages call them. */
export const FAMILY_NAMES = {
  understand: 'Understand',
  damage: 'Damage',
  parts: 'Parts',
  money: 'Money',
  render: 'Render',
} as const;

interface Page {
  /** Without the name of the service. */
  title: string;
  path: string;
  /** HTML. */
  content: string;
  endpoints: readonly EndpointContract[];
  /** Whether the service has a console to link to. */
  hasConsole: boolean;
}

export function renderPage({ title, path, content, endpoints, hasConsole }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Vehicle Inference Service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/assets/site.css">
<script src="/docs/assets/site.js"></script>
</head>
<body>
<header>
<button class="menu" type="button" popovertarget="site-navigation">Menu</button>
<a class="brand" href="/docs">Vehicle Inference Service</a>
<form action="/docs/search" role="search"><label for="site-search">Search</label>
<input id="site-search" name="q" type="search" maxlength="100" autocomplete="off" placeholder="Search the documentation"></form>
${hasConsole ? '<a href="/console">Console</a>\n' : ''}</header>
<main><article>
${content}</article></main>
${renderContents(content)}
<nav id="site-navigation" aria-label="Documentation" popover>
${renderNavigation(path, endpoints)}</nav>
</body>
</html>
`;
}

function renderNavigation(path: string, endpoints: readonly EndpointContract[]): string {
  const link = (target: string, name: string) =>
    `<li><a href="${target}"${target === path ? ' aria-current="page"' : ''}>${escapeHtml(name)}</a></li>\n`;
  const guide = (name: string) => link(`/docs/${name}`, GUIDES[name] ?? name);
  const group = (name: string, links: string) => `<h2>${name}</h2>\n<ul>\n${links}</ul>\n`;
  const families = Object.entries(FAMILY_NAMES).map(([family, name]) => {
    const members = endpoints.filter((endpoint) => endpoint.family === family);
    if (members.length === 0) return '';
    const links = members.map(({ slug }) => link(`/docs/endpoints/${slug}`, slug)).join('');
    const isOpen = members.some(({ slug }) => path === `/docs/endpoints/${slug}`);
    return `<li><details${isOpen ? ' open' : ''}><summary>${name}</summary><ul>\n${links}</ul></details></li>\n`;
  });
  return [
    group('Start', link('/docs', 'Overview') + TOOLS.map(guide).join('')),
    group('Endpoints', link('/docs/endpoints', 'All endpoints') + families.join('')),
    group(
      'Guides',
      Object.keys(GUIDES)
        .filter((name) => !TOOLS.includes(name))
        .map(guide)
        .join(''),
    ),
    group(
      'Reference',
      [
        link('/docs/reference', 'All operations'),
        link('/docs/errors', 'Errors'),
        link('/docs/models', 'Models'),
        link('/docs/changelog', 'Changelog'),
        '<li><a href="/openapi.json">OpenAPI document</a></li>\n',
      ].join(''),
    ),
  ].join('');
}

/** The second headings of a page, for a page that has several. */
function renderContents(content: string): string {
  const headings = [...content.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)];
  if (headings.length < 3) return '';
  const links = headings.map(
    ([, id, html = '']) => `<li><a href="#${id}">${html.replace(/<\/?a\b[^>]*>/g, '')}</a></li>`,
  );
  return `<aside aria-label="On this page"><p>On this page</p><ul>\n${links.join('\n')}\n</ul></aside>`;
}

/** Scripts, styles and pictures come from here only. Nothing is inline, and no other page can frame this one. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
