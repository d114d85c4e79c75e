/** The documentation that the API serves: every page, its links, its policy, its cache and search. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPlaces } from '../../src/api/pages/find-shapes.ts';
import { anchorOf, escapeHtml, renderMarkdown } from '../../src/api/pages/markdown.ts';
import { readModelCards } from '../../src/api/pages/model-pages.ts';
import { GUIDES, guideFile } from '../../src/api/pages/page.ts';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import { ERRORS } from '../../src/contracts/error-codes.ts';
import { endpointBySlug, endpoints } from '../../src/endpoints/list.ts';
import { exampleResult } from '../../src/endpoints/shared/examples.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { readDocument } from '../docs/snippets.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';

/** Requests a page as a browser does. */
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8' };

const DOCUMENTS = [
  { path: '/docs', file: 'docs/README.md' },
  { path: '/docs/changelog', file: 'CHANGELOG.md' },
  ...readModelCards().map(({ model, release }) => ({
    path: `/docs/models/${model}@${release}`,
    file: `models/${model}/${release}/MODEL_CARD.md`,
  })),
  { path: '/docs/errors', file: 'docs/errors/README.md' },
  ...Object.keys(ERRORS).map((code) => ({ path: `/docs/errors/${code}`, file: `docs/errors/${code}.md` })),
  ...Object.keys(GUIDES).map((name) => ({ path: `/docs/${name}`, file: guideFile(name) })),
];

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ hasOwnLinks: true });
  const installed = { endpoint: 'vin.read', modelVersion: 'print-reader@2026-11-22' };
  await announceInstalledEndpoints(api.orm.em.fork(), [installed], []);
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

it('the root redirects browsers to the documentation, and nobody else', async () => {
  const browser = await fetch(api.url, { headers: BROWSER, redirect: 'manual' });
  expect([browser.status, browser.headers.get('Location')]).toEqual([302, '/docs']);
  for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }]) {
    const answer = await api.call('/', { headers });
    expect([answer.status, answer.error.code]).toEqual([404, 'resource_not_found']);
  }
});

describe.each(DOCUMENTS)('$path', ({ path, file }) => {
  it(`${path} is HTML for browsers and Markdown for other clients`, async () => {
    const page = await browse(path);
    expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }, { Accept: 'text/markdown' }]) {
      const plain = await api.call(path, { headers });
      expect([plain.status, plain.headers.get('Content-Type')]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(plain.text).toBe(readDocument(file));
      expect(plain.headers.get('Vary')).toBe('Accept');
    }
  });

  it(`${path} shows the whole text without Markdown syntax`, async () => {
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
    const article = page
      .slice(page.indexOf('<article>'), page.indexOf('</article>'))
      // What only the site has, in place of comments.
      .replace(/<figure>.*?<\/figure>|<h3 id="\w+">\w+<\/h3>\n<ul class="cards">.*?<\/ul>/gs, '')
      .replace(/<[^>]*>/g, ' ');
    const address = file.startsWith('docs/errors/') ? 'https://api.example.com' : api.url;
    expect(words(unescaped(article))).toEqual(words(source.replaceAll('https://api.example.com', address)));
  });
});

const unescaped = (html: string) =>
  html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

describe('the site', () => {
  const ELSEWHERE = [
    'https://www.standardwebhooks.com/',
    'https://keepachangelog.com/',
    'https://semver.org/',
    'https://python-pillow.org',
  ];
  /** Every page that can be reached from the first one. */
  let reached: Map<string, Answer>;

  beforeAll(async () => {
    reached = new Map();
    const open = ['/docs'];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      const page = await browse(path);
      reached.set(path, page);
      if (!page.headers.get('Content-Type')?.startsWith('text/html')) continue;
      for (const target of targetsOf(page)) {
        const [address = ''] = target.split('#');
        const isNew = address.startsWith('/') && !reached.has(address) && !open.includes(address);
        if (isNew) open.push(address);
      }
    }
  }, 120_000);

  const htmlOf = () =>
    [...reached].filter(([, { headers }]) => headers.get('Content-Type')?.startsWith('text/html') ?? false);

  it('the site leads to each page that there is, and has no broken link or anchor', () => {
    const broken = htmlOf().flatMap(([path, page]) =>
      targetsOf(page)
        .filter((target) => {
          if (target === 'data:,' || ELSEWHERE.some((address) => target.startsWith(address))) return false;
          const [address, anchor] = target.split('#');
          const answer = reached.get(address || path);
          return answer?.status !== 200 || (anchor !== undefined && !idsOf(answer).includes(anchor));
        })
        .map((target) => `${path} → ${target}`),
    );
    expect(broken).toEqual([]);
    const documented = DOCUMENTS.map(({ path }) => path);
    const endpointPages = endpoints.map(({ slug }) => `/docs/endpoints/${slug}`);
    expect(
      [...documented, ...endpointPages, '/docs/models', '/docs/reference/createApiKey'].filter(
        (path) => !reached.has(path),
      ),
    ).toEqual([]);
    expect(htmlOf().length).toBeGreaterThan(150);
  });

  it('the site has a page for each operation of the OpenAPI document', async () => {
    const document = (await api.call('/openapi.json')).json as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const missing = operations
      .map(({ operationId }) => operationId)
      // Another spelling of an endpoint.
      .filter((id) => !endpoints.some((endpoint) => (endpoint as EndpointContract).aliases?.includes(id)))
      .filter((id) => !reached.has(`/docs/endpoints/${id}`) && !reached.has(`/docs/reference/${id}`));
    expect(missing).toEqual([]);
    expect(operations.length).toBeGreaterThan(70);
  });

  it('the site lists each page once in the reference, with every spelling of its path', async () => {
    const { text } = await browse('/docs/reference');
    const [article = ''] = /<article>.*<\/article>/s.exec(text) ?? [];
    const targets = [...article.matchAll(/<li><a href="([^"]+)"/g)].map(([, target]) => target);
    expect(targets).toEqual([...new Set(targets)]);
    expect(targets).toContain('/docs/endpoints/vehicle.analyze');
    for (const path of ['/v1/vehicle/analyze', '/v1/vehicle/analyse'])
      expect(article.replaceAll('<wbr>', '')).toContain(`<code>POST ${path}</code>`);
  });

  it('the site breaks long names in tables between their words, and short ones nowhere', async () => {
    const endpoint = await browse('/docs/endpoints/dashboard.read');
    expect(endpoint.text).toContain('<code>read<wbr>_warning<wbr>_lights</code>');
    expect(endpoint.text).toContain('<code>unit_hint</code>');
    expect((await browse('/docs/errors')).text).toContain('<code>api<wbr>_key<wbr>_limit<wbr>_reached</code>');
  });

  it('the site describes the result of an endpoint on its page, to which those of bundles lead', async () => {
    for (const slug of ['vehicle.analyze', 'video.onboard']) {
      const { text } = await browse(`/docs/endpoints/${slug}`);
      expect(text).toContain('<a href="/docs/endpoints/vin.read#result">result of vin.read</a> or null');
      expect(text.match(/<tr>/g)?.length).toBeLessThan(300);
    }
  });

  it('the site runs nothing inline, loads nothing from other origins, and cannot be framed', () => {
    for (const [path, { headers, text }] of htmlOf()) {
      const policy = headers.get('Content-Security-Policy') ?? '';
      expect([path, policy]).toEqual([
        path,
        expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self'; /),
      ]);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(text).not.toMatch(/<script(?! src="\/docs\/assets\/site\.js"><\/script>)|\sstyle=|\son\w+="/);
    }
  });

  it.each([
    '/docs',
    '/docs/quickstart',
    '/docs/endpoints/vin.read',
    '/docs/models',
    '/docs/assets/site.css',
    '/openapi.json',
  ])('%s is sent again only when it has changed, and compressed for clients that accept it', async (path) => {
    const first = await browse(path);
    const etag = first.headers.get('ETag') ?? '';
    const again = await api.call(path, {
      // `fetch` would add `no-cache`.
      headers: { ...BROWSER, 'If-None-Match': etag, 'Cache-Control': 'max-age=0' },
    });
    expect([again.status, again.text, again.headers.get('ETag')]).toEqual([304, '', etag]);
    const compressed = await fetch(api.url + path, { headers: { ...BROWSER, 'Accept-Encoding': 'gzip' } });
    expect(compressed.headers.get('Content-Encoding')).toBe('gzip');
    expect(await compressed.text()).toBe(first.text);
  });

  it('the page of each endpoint shows its picture, and what was found in it where its result marks places', async () => {
    for (const { slug } of endpoints) {
      const { text } = await browse(`/docs/endpoints/${slug}`);
      const places = findPlaces(exampleResult(slug)).shapes.length;
      expect([slug, /<(?:img|video)[^>]* src="\/docs\/pictures\//.test(text)]).toEqual([slug, true]);
      expect([slug, text.match(/class="shape"/g)?.length ?? 0]).toEqual([slug, places]);
      for (const scenario of Object.keys(endpointBySlug(slug).scenarios))
        expect(text.replaceAll('<wbr>', '')).toContain(`<code>${scenario}</code>`);
    }
  });

  it('the page of models shows which endpoints accept live keys, with a link to the card of their build', async () => {
    const { text } = await browse('/docs/models');
    expect(text).toContain(
      '<a href="/docs/models/print-reader@2026-11-22"><code>print-reader<wbr>@2026-11-22</code></a>',
    );
    expect(text.match(/<strong class="yes">available<\/strong>/g)).toHaveLength(1);
  });
});

describe('search', () => {
  const find = async (query: string) => {
    const { json } = await api.call(`/docs/search?q=${encodeURIComponent(query)}`);
    return (json as { results: { path: string; title: string; heading: string; excerpt: string }[] }).results;
  };

  it.each([
    ['signature', '/docs/webhooks#signature'],
    ['odometer', '/docs/endpoints/dashboard.read#result'],
    ['dashboard.read', '/docs/endpoints/dashboard.read'],
    ['idempotency_key_reuse', '/docs/errors/idempotency_key_reuse'],
    ['insuficient credits', '/docs/errors/insufficient_credits'],
    ['rotate a key', '/docs/reference/rotateApiKey'],
    ['completions', '/docs/command-line#completions'],
    ['vehicle-parts', '/docs/models/vehicle-parts@2026-11-26'],
    ['odometer', '/docs/quickstart#step-3-the-same-from-a-program'],
  ])('the search finds %s', async (query, path) => {
    expect((await find(query)).map((result) => result.path)).toContain(path);
  });

  it.each([
    ['webhook', '/docs/webhooks'],
    ['upload', '/docs/uploads'],
    ['api key', '/docs/api-keys'],
    ['models', '/docs/models'],
    ['quickstart', '/docs/quickstart'],
    ['command line', '/docs/command-line'],
    ['python', '/docs/python'],
    ['vin', '/docs/endpoints/vin.read'],
    ['rate_limit_exceeded', '/docs/errors/rate_limit_exceeded'],
  ])('the search finds the page about %s first', async (query, path) => {
    expect((await find(query))[0]?.path).toBe(path);
  });

  it('the search finds sections with all words first, and then those with some', async () => {
    const paths = (await find('odometer signature')).map((result) => result.path);
    // The tour has both words. The section about signatures has one, in its heading.
    expect(paths).toEqual(expect.arrayContaining(['/docs/client#a-tour', '/docs/webhooks#signature']));
    expect(paths.indexOf('/docs/client#a-tour')).toBeLessThan(paths.indexOf('/docs/webhooks#signature'));
    expect((await find('signature zebra')).map((result) => result.path)).toContain('/docs/webhooks#signature');
    expect(await find('zebra')).toEqual([]);
  });

  it('the search names the chapter of a section, and shows at most three of a page beside its beginning', async () => {
    const found = await find('added webhook');
    const ofChangelog = found.filter(({ path }) => path.startsWith('/docs/changelog#'));
    expect(ofChangelog.map(({ heading }) => heading)).toContain('Unreleased, Added');
    const pages = found.map(({ title }) => title);
    for (const page of pages) expect(pages.filter((other) => other === page).length).toBeLessThanOrEqual(4);
    expect(new Set(pages).size).toBeGreaterThan(3);
  });

  it('the search shows the text of a page, not its HTML', async () => {
    const excerpts = (await find('readFileSync')).map((result) => result.excerpt).join('\n');
    expect(excerpts).toContain("'");
    expect(excerpts).not.toMatch(/&(?:#\d+|\w+);/);
  });

  it('the search works without a script, and shows what was typed as text', async () => {
    const page = await browse('/docs/search?q=%3Cscript%3Ealert(1)%3C/script%3E%20odometer');
    expect(page.status).toBe(200);
    expect(page.text).toContain('Search: &lt;script&gt;alert(1)');
    expect(page.text).not.toContain('<script>');
    expect((await browse('/docs/search?q=odometer')).text).toContain('href="/docs/endpoints/dashboard.read#result"');
    for (const query of ['', '?q=', '?q=a&q=b', `?q=${'x'.repeat(5_000)}`, '?q=%E2%80%A6']) {
      expect((await browse(`/docs/search${query}`)).status).toBe(200);
    }
  });
});

describe('a page that is not served', () => {
  it('a page that is not served leads browsers on, and is an error to other clients', async () => {
    const { status, headers, text } = await browse('/docs/endpoints/vin.red');
    expect([status, headers.get('Vary')]).toEqual([404, expect.stringContaining('Accept')]);
    expect(text).toContain('Nothing is at <code>/docs/endpoints/vin.red</code>');
    expect(text).toContain('role="search"');
    const { error } = await api.call('/docs/endpoints/vin.red', { headers: { Accept: 'application/json' } });
    expect(error).toMatchObject({ code: 'resource_not_found', message: 'There is no page /docs/endpoints/vin.red.' });
  });

  it('the address of a page with a slash at its end redirects to the page', async () => {
    for (const path of ['/docs', '/docs/quickstart']) {
      const { status, headers } = await fetch(`${api.url}${path}/`, { headers: BROWSER, redirect: 'manual' });
      expect([status, headers.get('Location')]).toEqual([302, path]);
    }
  });

  it.each([
    '/docs/architecture',
    '/docs/README',
    '/docs/toString',
    '/docs/examples/..%2Fbilling.md',
    '/docs/examples/x.mjs',
  ])('the page %s is not served and returns 404', async (path) => {
    expect((await browse(path)).status).toBe(404);
  });

  it('a page that is not served is not linked: references to operator pages stay text', async () => {
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

it('the pictures of the documentation are served from their folders, and no other file is', async () => {
  const picture = await browse('/docs/pictures/dashboard.read/example.jpg');
  expect([picture.status, picture.headers.get('Content-Type')]).toEqual([200, 'image/jpeg']);
  for (const name of ['default.json', 'none.jpg', '..%2Fcontract.ts', '..%2F..%2Fvin.read%2Ffixtures%2Fexample.jpg']) {
    expect((await browse(`/docs/pictures/dashboard.read/${name}`)).status).toBe(404);
  }
  expect((await browse('/docs/pictures/..%2Fendpoints/example.jpg')).status).toBe(404);
});

describe('Markdown', () => {
  const render = (text: string) => renderMarkdown(text, (target) => (target === 'gone' ? null : target));

  it('Markdown never passes HTML through', () => {
    const html = render('# <b>\n\n<script>alert("1")</script> & `<i>` **<u>** [<a>](x"y)\n\n| <td> |\n|---|\n| <p> |');
    expect(html.match(/<(?!\/?(?:h1|p|code|strong|a|div|table|thead|tbody|tr|th|td)\b)/g)).toBeNull();
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
  ])('Markdown of %j brings in no element', (text) => {
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
  ])('Markdown renders %j', (text, html) => {
    expect(render(text)).toBe(html);
  });

  it('Markdown shows programs of several languages side by side', () => {
    const html = render(
      '```bash\na\n```\n<!-- prints: x -->\n\n```ts\nb\n```\n\n```bash\nc\n```\n\ntext\n\n```python\nd\n```',
    );
    expect(html.replace(/<pre><code class="language-\w+">(\w)\n<\/code><\/pre>/g, '$1')).toBe(
      '<div class="languages">\n<div data-language="curl">a</div>\n<div data-language="TypeScript">b</div>\n</div>\n' +
        'c\n<p>text</p>\nd\n',
    );
  });

  it('Markdown generates the anchors that links use', () => {
    expect(render('## One\n\n## One\n')).toContain('<h2 id="one-1">');
    expect(anchorOf('Announced, in parts')).toBe('announced-in-parts');
  });
});
