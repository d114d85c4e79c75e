/** The frame of every page: its head, its style and the way to the other pages. */
import { escapeHtml } from './markdown.ts';

/** Guides that customers read, as `docs/<name>.md`, in the order in which they are offered. */
export const GUIDES: Readonly<Record<string, string>> = {
  'api-keys': 'API keys',
  uploads: 'Files',
  idempotency: 'Idempotency',
  webhooks: 'Webhooks',
  'test-mode': 'Test mode',
  credits: 'Credits',
  client: 'Client',
  management: 'Management',
  billing: 'Billing',
  'sdk-licenses': 'SDK licences',
};

const PLACES = [
  ['/docs', 'Reference'],
  ['/docs/errors', 'Errors'],
  ...Object.entries(GUIDES).map(([name, title]) => [`/docs/${name}`, title]),
] as const;

interface Page {
  /** Without the name of the service. */
  title: string;
  /** Path of the entry that is marked as the present one. */
  place: string;
  /** HTML. */
  content: string;
  /** Further HTML of the head. */
  head?: string;
}

export function renderPage({ title, place, content, head = '' }: Page): string {
  const links = PLACES.map(([path, name]) => {
    const current = path === place ? ' aria-current="page"' : '';
    return `<a href="${path}"${current}>${name}</a>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Vehicle Inference Service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/assets/page.css">
${head}</head>
<body>
<header><strong>Vehicle Inference Service</strong><nav aria-label="Documentation">${links.join('\n')}</nav></header>
${content}
</body>
</html>
`;
}

/** What is below `article` is not for the reference, which has a style of its own. */
export const PAGE_CSS = `:root {
  color-scheme: light;
  --text: #1f2933;
  --quiet: #52606d;
  --line: #d9e0e6;
  --shade: #f4f6f8;
  --link: #0b5cad;
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: #fff; font: 16px/1.6 system-ui, sans-serif; }
body > header { display: flex; flex-wrap: wrap; gap: 0.25rem 2rem; align-items: baseline; padding: 0.75rem 1.5rem;
  border-bottom: 1px solid var(--line); background: var(--shade); }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.1rem; font-size: 0.95rem; }
article a { color: var(--link); }
article a, nav a { text-decoration: none; }
:is(article, nav) a:is(:hover, :focus-visible) { text-decoration: underline; }
nav a { color: var(--quiet); }
nav a[aria-current] { color: var(--text); font-weight: 600; }
article { max-width: 50rem; margin: 0 auto; padding: 1.5rem; }
article h1 { font-size: clamp(1.25rem, 5.5vw, 1.8rem); line-height: 1.25; margin: 0.5rem 0 1rem; overflow-wrap: anywhere; }
article h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.2rem 0 0.6rem; }
article h3 { font-size: 1.1rem; margin: 1.8rem 0 0.5rem; }
article li { margin: 0.25rem 0; }
article code { font: 0.88em ui-monospace, monospace; background: var(--shade); padding: 0.1em 0.3em; border-radius: 3px;
  overflow-wrap: anywhere; }
article pre { overflow-x: auto; padding: 0.9rem 1rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--shade); line-height: 1.45; }
article pre code { padding: 0; background: none; overflow-wrap: normal; }
article table { display: block; width: fit-content; max-width: 100%; overflow-x: auto; border-collapse: collapse;
  margin: 1rem 0; font-size: 0.95rem; }
article :is(th, td) { padding: 0.4rem 0.8rem; border: 1px solid var(--line); text-align: left; vertical-align: top; }
article th { background: var(--shade); }
article td code { overflow-wrap: normal; }
`;

/** Nothing runs on a page of text, and nothing comes from elsewhere. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
