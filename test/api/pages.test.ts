/** The documentation that the API serves: reference, error pages and guides. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anchorOf, escapeHtml, renderMarkdown } from '../../src/api/pages/markdown.ts';
import { GUIDES } from '../../src/api/pages/page.ts';
import { ERRORS } from '../../src/contracts/error-codes.ts';
import { readDocument } from '../docs/snippets.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';

/** Requests a page as a browser does. */
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8' };

const DOCUMENTS = [
  { path: '/docs/errors', file: 'docs/errors/README.md' },
  ...Object.keys(ERRORS).map((code) => ({ path: `/docs/errors/${code}`, file: `docs/errors/${code}.md` })),
  ...Object.keys(GUIDES).map((name) => ({ path: `/docs/${name}`, file: `docs/${name}.md` })),
];

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const pages = new Map<string, Promise<Answer>>();
/** Each page is fetched once. */
function browse(path: string): Promise<Answer> {
  const page = pages.get(path) ?? api.call(path, { headers: BROWSER });
  pages.set(path, page);
  return page;
}
const targetsOf = ({ text }: Answer) => [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, target = '']) => target);
const idsOf = ({ text }: Answer) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

it('the root redirects browsers to the reference, and nobody else', async () => {
  const browser = await fetch(api.url, { headers: BROWSER, redirect: 'manual' });
  expect([browser.status, browser.headers.get('Location')]).toEqual([302, '/docs']);
  for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }]) {
    const answer = await api.call('/', { headers });
    expect([answer.status, answer.error.code]).toEqual([404, 'resource_not_found']);
  }
});

describe.each(DOCUMENTS)('$path', ({ path, file }) => {
  it('is HTML for browsers and Markdown for other clients', async () => {
    const page = await browse(path);
    expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }, { Accept: 'text/markdown' }]) {
      const plain = await api.call(path, { headers });
      expect([plain.status, plain.headers.get('Content-Type')]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(plain.text).toBe(readDocument(file));
      expect(plain.headers.get('Vary')).toBe('Accept');
    }
  });

  it('shows the whole text without Markdown syntax', async () => {
    const { text: page } = await browse(path);
    const shown = page
      .slice(page.indexOf('<article>'), page.indexOf('</article>'))
      .replace(/<pre>[\s\S]*?<\/pre>/g, '');
    const read = shown.replace(/<code>[\s\S]*?<\/code>/g, '').replace(/<[^>]*>/g, '');
    expect(read).not.toMatch(/\]\(|\*\*|`|^#|^\||<!--|^(?:-|\d+\.) /m);
    const words = (text: string) => text.match(/[A-Za-z]{3,}/g) ?? [];
    const source = readDocument(file)
      .replace(/<!--[\s\S]*?-->/g, '')
      .replace(/^```.*$/gm, '')
      .replace(/\]\([^)]*\)/g, ']');
    const article = page.slice(page.indexOf('<article>'), page.indexOf('</article>')).replace(/<[^>]*>/g, ' ');
    expect(words(unescaped(article))).toEqual(words(source));
  });

  it('has no broken links or anchors', async () => {
    for (const target of targetsOf(await browse(path))) {
      if (target === 'data:,' || target === 'https://www.standardwebhooks.com/') continue;
      expect(target).toMatch(/^[/#]/);
      const [address = '', anchor] = target.split('#');
      const answer = await browse(address || path);
      expect({ target, status: answer.status }).toEqual({ target, status: 200 });
      if (anchor !== undefined) expect(idsOf(answer)).toContain(anchor);
    }
  });

  it('runs no script and loads nothing from other origins', async () => {
    const { headers, text } = await browse(path);
    expect(headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; style-src 'self'; img-src data:;/);
    expect(text).not.toMatch(/<script|style=|\son\w+=/);
  });
});

const unescaped = (html: string) =>
  html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

describe('a page that is not served', () => {
  it.each([
    '/docs/architecture',
    '/docs/README',
    '/docs/toString',
    '/docs/examples/..%2Fbilling.md',
    '/docs/examples/x.mjs',
  ])('%s returns 404', async (path) => {
    expect((await browse(path)).status).toBe(404);
  });

  it('is not linked: references to operator pages stay text', async () => {
    const guide = await browse('/docs/idempotency');
    expect(readDocument('docs/idempotency.md')).toContain('[tour](../README.md#a-tour)');
    expect(guide.text).toContain('first steps of the tour.');
  });
});

it('example programs are served as plain text', async () => {
  const answer = await browse('/docs/examples/webhook-receiver.mjs');
  expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  expect(answer.text).toBe(readDocument('docs/examples/webhook-receiver.mjs'));
});

describe('the reference', () => {
  it('loads all its assets and links to the errors and guides', async () => {
    const page = await browse('/docs');
    const targets = targetsOf(page);
    for (const { path } of DOCUMENTS.filter(({ path }) => !/errors\/./.test(path))) expect(targets).toContain(path);
    for (const target of targets.filter((path) => path.startsWith('/docs/assets/'))) {
      const asset = await browse(target);
      expect([target, asset.status]).toEqual([target, 200]);
      expect(asset.headers.get('Content-Type')).toMatch(target.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
    }
  });
});

describe('Markdown', () => {
  const render = (text: string) => renderMarkdown(text, (target) => (target === 'gone' ? null : target));

  it('never passes HTML through', () => {
    const html = render('# <b>\n\n<script>alert("1")</script> & `<i>` **<u>** [<a>](x"y)\n\n| <td> |\n|---|\n| <p> |');
    expect(html.match(/<(?!\/?(?:h1|p|code|strong|a|table|thead|tbody|tr|th|td)\b)/g)).toBeNull();
    expect(html).toContain(escapeHtml('<script>alert("1")</script> & '));
    expect(html).toContain('href="x&quot;y"');
  });

  it.each([
    '<div onclick="x">\n<b>bold</b>\n</div>',
    'text\n<img src=x onerror=alert(1)>\nmore',
    '- <svg onload=x>\n\n  <iframe>',
    '> <style>\n> p { color: red }\n> </style>',
    '<!-- comment --> <script>x</script>',
    '<!DOCTYPE html> <?php x ?> <![CDATA[<b>]]>',
    '&lt;script&gt; &#60;script&#62; \\<script>',
  ])('%j brings in no element', (text) => {
    expect(render(text).match(/<(?!\/?(?:p|ul|li|blockquote)>)/g)).toBeNull();
  });

  it.each([
    ['a paragraph\nof two lines', '<p>a paragraph\nof two lines</p>\n'],
    ['- one\n  and more\n- two', '<ul>\n<li>one\nand more</li>\n<li>two</li>\n</ul>\n'],
    ['1. one\n2. two', '<ol>\n<li>one</li>\n<li>two</li>\n</ol>\n'],
    ['- one\n  - inner', '<ul>\n<li>one<ul>\n<li>inner</li>\n</ul>\n</li>\n</ul>\n'],
    ['text\n- one', '<p>text</p>\n<ul>\n<li>one</li>\n</ul>\n'],
    ['```bash no-run: why\na < b\n\n- c\n```', '<pre><code class="language-bash">a &lt; b\n\n- c\n</code></pre>\n'],
    ['<!-- of\ntests -->\ntext', '<p>text</p>\n'],
    ['## The `end`, now', '<h2 id="the-end-now">The <code>end</code>, now</h2>\n'],
    ['[`a`](b.md) and [c](gone)', '<p><a href="b.md"><code>a</code></a> and c</p>\n'],
    ['`**a** [b](c)`', '<p><code>**a** [b](c)</code></p>\n'],
    ['', ''],
  ])('%j', (text, html) => {
    expect(render(text)).toBe(html);
  });

  it('generates the anchors that links use', () => {
    expect(anchorOf('Announced, in parts')).toBe('announced-in-parts');
  });
});
