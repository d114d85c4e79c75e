/** `/console`: the page with its policy and settings, and what is said where there is none. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleSettings, createConsoleRoutes } from '../../src/api/routes/console.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const SETTINGS: ConsoleSettings = {
  clientId: 'console',
  authorizationUrl: 'https://login.example/authorize?audience=vehicles',
  tokenUrl: 'https://login.example/token',
  temporalUrl: null,
  temporalNamespace: 'default',
  pictureOrigins: ['https://files.example'],
};

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ console: SETTINGS });
});
afterAll(() => api.close());

describe('the page of the console', () => {
  it.each(['/console', '/console/', '/console/jobs/job_11111111', '/console/callback?code=1'])(
    'the page of the console is served at %s',
    async (path) => {
      const response = await fetch(api.url + path);
      expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(response.headers.get('Cache-Control')).toBe('no-store');
    },
  );

  it('the page of the console has its settings, and a policy with a new nonce each time', async () => {
    const policies: string[] = [];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const response = await fetch(`${api.url}/console`);
      const text = await response.text();
      const policy = response.headers.get('Content-Security-Policy') ?? '';
      const [, nonce = ''] = /'nonce-([^']+)'/.exec(policy) ?? [];
      expect(text).toContain(`content="${nonce}"`);
      const [, settings = ''] = /name="console-settings" content="([^"]*)"/.exec(text) ?? [];
      const { pictureOrigins: _, ...shown } = SETTINGS;
      expect(JSON.parse(settings.replaceAll('&quot;', '"'))).toEqual(shown);
      policies.push(policy);
    }
    expect(policies[0]).not.toBe(policies[1]);
    expect(policies[0]?.replace(/nonce-[^']+/, 'nonce')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self' 'nonce'; img-src 'self' data: blob: https://files.example; " +
        "media-src 'self' blob: https://files.example; font-src 'self'; connect-src 'self' https://login.example; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it('the console serves the files of its build compressed and cacheable for ever, and no others', async () => {
    const page = await (await fetch(`${api.url}/console`)).text();
    const [, path = ''] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page) ?? [];
    const plain = await fetch(api.url + path, { headers: { 'Accept-Encoding': 'identity' } });
    const packed = await fetch(api.url + path);
    expect([plain.headers.get('Content-Encoding'), packed.headers.get('Content-Encoding')]).toEqual([null, 'gzip']);
    expect(await packed.text()).toBe(await plain.text());
    expect(plain.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.get('Content-Type')).toMatch(/javascript/);
    for (const name of ['nothing.js', '..%2Findex.html', 'manifest.json']) {
      expect((await fetch(`${api.url}/console/assets/${name}`)).status).toBe(404);
    }
  });
});

it('the documentation links to the console where there is one', async () => {
  const linksOf = async (url: string) => {
    const page = await (await fetch(`${url}/docs`, { headers: { Accept: 'text/html' } })).text();
    return page.match(/<a href="\/console">Console<\/a>/g)?.length ?? 0;
  };
  const unset = await startTestApi({ console: null });
  try {
    expect([await linksOf(api.url), await linksOf(unset.url)]).toEqual([1, 0]);
  } finally {
    await unset.close();
  }
});

it('the console says so when it has no settings or no build', async () => {
  const unset = await startTestApi({ console: null });
  try {
    const { status, error } = await unset.call('/console');
    expect([status, error.code, error.message]).toEqual([
      404,
      'resource_not_found',
      expect.stringContaining('CONSOLE_CLIENT_ID'),
    ]);
  } finally {
    await unset.close();
  }
  const empty = pathToFileURL(`${mkdtempSync(join(tmpdir(), 'no-console-'))}/`);
  expect(() => createConsoleRoutes(SETTINGS, empty).page({} as never)).toThrow('The console is not built here.');
});

it('the console serves the compressed copy of a file that its build made', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-build-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<p>%CONSOLE_SETTINGS% %CONSOLE_NONCE%</p>');
  writeFileSync(join(folder, 'assets/a.js'), 'plain');
  writeFileSync(join(folder, 'assets/a.js.gz'), gzipSync('packed'));
  const answer = {
    params: { name: 'a.js' },
    body: Buffer.alloc(0),
    vary() {},
    set() {},
    acceptsEncodings: () => 'gzip',
  };
  createConsoleRoutes(SETTINGS, pathToFileURL(`${folder}/`)).asset(answer as never);
  expect(gunzipSync(answer.body).toString()).toBe('packed');
});
