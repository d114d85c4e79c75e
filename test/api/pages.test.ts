/** What the API serves for reading: the reference, the pages of errors, and the guides. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anchorOf, escapeHtml, renderMarkdown } from '../../src/api/pages/markdown.ts';
import { GUIDES } from '../../src/api/pages/page.ts';
import { ERRORS } from '../../src/contracts/error-codes.ts';
import { readDocument } from '../docs/snippets.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';

/** As a browser asks for a page. */
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
/** Each page is asked for once. */
function browse(path: string): Promise<Answer> {
  const page = pages.get(path) ?? api.call(path, { headers: BROWSER });
  pages.set(path, page);
  return page;
}
const targetsOf = ({ text }: Answer) => [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, target = '']) => target);
const idsOf = ({ text }: Answer) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

it('a browser that asks for no page in particular is led to the reference, and nothing else is', async () => {
  const browser = await fetch(api.url, { headers: BROWSER, redirect: 'manual' });
  expect([browser.status, browser.headers.get('Location')]).toEqual([302, '/docs']);
  for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }]) {
    const answer = await api.call('/', { headers });
    expect([answer.status, answer.error.code]).toEqual([404, 'resource_not_found']);
  }
});

describe.each(DOCUMENTS)('$path', ({ path, file }) => {
  it('is a page in a browser, and the Markdown for whatever else asks', async () => {
    const page = await browse(path);
    expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }, { Accept: 'text/markdown' }]) {
      const plain = await api.call(path, { headers });
      expect([plain.status, plain.headers.get('Content-Type')]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(plain.text).toBe(readDocument(file));
      expect(plain.headers.get('Vary')).toBe('Accept');
    }
  });

  it('shows all of the text, and nothing of how it is marked up', async () => {
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

  it('has only links that lead somewhere, headings included', async () => {
    for (const target of targetsOf(await browse(path))) {
      if (target === 'data:,' || target === 'https://www.standardwebhooks.com/') continue;
      expect(target).toMatch(/^[/#]/);
      const [address = '', anchor] = target.split('#');
      const answer = await browse(address || path);
      expect({ target, status: answer.status }).toEqual({ target, status: 200 });
      if (anchor !== undefined) expect(idsOf(answer)).toContain(anchor);
    }
  });

  it('runs nothing, and takes nothing from elsewhere', async () => {
    const { headers, text } = await browse(path);
    expect(headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; style-src 'self'; img-src data:;/);
    expect(text).not.toMatch(/<script|style=|\son\w+=/);
  });
});

const unescaped = (html: string) =>
  html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

describe('what is not served', () => {
  it.each([
    '/docs/architecture',
    '/docs/README',
    '/docs/toString',
    '/docs/examples/..%2Fbilling.md',
    '/docs/examples/x.mjs',
  ])('%s answers 404', async (path) => {
    expect((await browse(path)).status).toBe(404);
  });

  it('is no link: what a guide says of operators stays text', async () => {
    const guide = await browse('/docs/idempotency');
    expect(readDocument('docs/idempotency.md')).toContain('[tour](../README.md#a-tour)');
    expect(guide.text).toContain('first steps of the tour.');
  });
});

it('the programs that guides explain are shown as they are', async () => {
  const answer = await browse('/docs/examples/webhook-receiver.mjs');
  expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  expect(answer.text).toBe(readDocument('docs/examples/webhook-receiver.mjs'));
});

describe('the reference', () => {
  it('has all it needs, and leads to the errors and the guides', async () => {
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

  it('is never HTML of its own', () => {
    const html = render('# <b>\n\n<script>alert("1")</script> & `<i>` **<u>** [<a>](x"y)\n\n| <td> |\n|---|\n| <p> |');
    expect(html.match(/<(?!\/?(?:h1|p|code|strong|a|table|thead|tbody|tr|th|td)\b)/g)).toBeNull();
    expect(html).toContain(escapeHtml('<script>alert("1")</script> & '));
    expect(html).toContain('href="x&quot;y"');
  });

  it.each([
    ['a paragraph\nof two lines', '<p>a paragraph\nof two lines</p>'],
    ['- one\n  and more\n- two', '<ul><li>one\n  and more</li>\n<li>two</li></ul>'],
    ['1. one\n2. two', '<ol><li>one</li>\n<li>two</li></ol>'],
    ['text\n- one', '<p>text</p>\n<ul><li>one</li></ul>'],
    ['```bash no-run: why\na < b\n\n- c\n```', '<pre><code>a &lt; b\n\n- c</code></pre>'],
    ['<!-- of\ntests -->\ntext', '<p>text</p>'],
    ['## The `end`, now', '<h2 id="the-end-now">The <code>end</code>, now</h2>'],
    ['[`a`](b.md) and [c](gone)', '<p><a href="b.md"><code>a</code></a> and c</p>'],
    ['`**a** [b](c)`', '<p><code>**a** [b](c)</code></p>'],
    ['', ''],
  ])('%j', (text, html) => {
    expect(render(text)).toBe(html);
  });

  it('has the anchors that links name', () => {
    expect(anchorOf('Announced, in parts')).toBe('announced-in-parts');
  });
});
