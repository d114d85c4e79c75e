/** `/viewer`: how the components and their page are served, and what is said where they are not built. */
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createViewerRoutes } from '../../src/api/routes/viewer.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const get = (path: string, headers: Record<string, string> = {}) => fetch(api.url + path, { headers });

describe('the page of the viewer', () => {
  it.each(['/viewer', '/viewer/'])('the page of the viewer is served at %s with a strict policy', async (path) => {
    const response = await get(path);
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob: https://api.example; " +
        "media-src 'self' https://api.example; " +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(response.headers.get('Referrer-Policy')).toBe('no-referrer');
  });

  it('the page of the viewer loads files that are cacheable for ever', async () => {
    const paths = [...(await (await get('/viewer')).text()).matchAll(/(?:src|href)="(\/viewer\/assets\/[^"]+)"/g)];
    expect(paths.length).toBeGreaterThan(1);
    for (const [, path = ''] of paths) {
      const response = await get(path);
      expect([response.status, response.headers.get('Cache-Control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
    for (const name of ['none.js', 'page.js.gz', '..%2findex.html']) {
      expect((await get(`/viewer/assets/${name}`)).status).toBe(404);
    }
  });
});

describe('the components of the viewer', () => {
  it('the components of the viewer may be loaded by pages of any origin, and are revalidated at each load', async () => {
    const response = await get('/viewer/vehicle-viewer.js', { Origin: 'https://dealer.example' });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    });
    const again = await get('/viewer/vehicle-viewer.js', {
      'If-None-Match': response.headers.get('ETag') ?? '',
      // `fetch` would add `no-cache`.
      'Cache-Control': 'max-age=0',
    });
    expect(again.status).toBe(304);
  });

  it('the components of the viewer are the same file as that of the page, and need no other', async () => {
    const digest = async (path: string) =>
      createHash('sha256')
        .update(await (await get(path)).text())
        .digest('hex');
    const page = await (await get('/viewer')).text();
    const [, path = ''] = /"(\/viewer\/assets\/vehicle-viewer-[^"]+\.js)"/.exec(page) ?? [];
    expect(await digest('/viewer/vehicle-viewer.js')).toBe(await digest(path));
    expect(await (await get(path)).text()).not.toMatch(/\bimport\b|from`|from"/);
  });
});

it('the viewer says how to build it when it is not built', () => {
  const empty = pathToFileURL(`${mkdtempSync(join(tmpdir(), 'no-viewer-'))}/`);
  const { page, script } = createViewerRoutes([], empty);
  for (const route of [page, script]) expect(() => route({} as never)).toThrow('The viewer is not built here.');
});
