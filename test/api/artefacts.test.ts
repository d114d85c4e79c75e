/** Artefacts of jobs, served through signed links. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../src/platform/ids.ts';
import { createSignedUrls } from '../../src/platform/signed-urls.ts';
import { ObjectNotFoundError } from '../../src/platform/storage/object-store.ts';
import { PUBLIC_BASE_URL, startTestApi, type TestApi } from '../support/api.ts';
import { png } from '../support/pictures.ts';
import { expectRefusal } from '../support/requests.ts';

const NOON = new Date('2026-12-01T12:00:00.000Z');

let api: TestApi;
let now = NOON;
let name: string;

beforeAll(async () => {
  api = await startTestApi({ clock: () => now });
});
afterAll(() => api.close());
beforeEach(async () => {
  now = NOON;
  name = `${newId('artefact')}.png`;
  await api.store.put(`artefacts/${name}`, png);
});

const EXPIRES_AT = new Date(NOON.getTime() + 60_000);
const link = (path = `/v1/artefacts/${name}`) => api.signedUrls.sign(path, EXPIRES_AT).slice(PUBLIC_BASE_URL.length);
const expectNoFile = (path: string) => expectRefusal(api, () => api.call(path), { code: 'resource_not_found' });

describe('a signed link', () => {
  it('a signed link serves the file without a key, with headers that make it safe in browsers', async () => {
    const response = await fetch(api.url + link());
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(png)).toBe(true);
    expect(response.headers.get('Content-Type')).toBe('image/png');
    expect(response.headers.get('Content-Length')).toBe(String(png.length));
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(response.headers.get('Content-Security-Policy')).toBe("default-src 'none'; sandbox");
  });

  it('a signed link works until the second of its expiry, and no longer', async () => {
    now = new Date(EXPIRES_AT.getTime() - 1);
    expect((await fetch(api.url + link())).status).toBe(200);
    now = EXPIRES_AT;
    await expectNoFile(link());
  });

  it('a signed link to a deleted file is refused', async () => {
    await api.store.remove(`artefacts/${name}`);
    await expectNoFile(link());
  });

  it('a signed link to a file deleted during the request is refused, and the refusal is not cacheable', async () => {
    vi.spyOn(api.store, 'stream').mockRejectedValueOnce(new ObjectNotFoundError('gone'));
    const refused = await fetch(api.url + link());
    expect(refused.status).toBe(404);
    expect([refused.headers.get('Cache-Control'), refused.headers.get('ETag')]).toEqual([null, null]);
  });
});

describe('a part of the file', () => {
  const get = (range: string, headers: Record<string, string> = {}) =>
    fetch(api.url + link(), { headers: { Range: range, ...headers } });
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
  const { length: size } = png;

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=1-9', 1, 9],
    ['bytes=10-', 10, size - 1],
    [`bytes=10-${size + 1_000}`, 10, size - 1],
    ['bytes=-5', size - 5, size - 1],
    [`bytes=-${size + 1_000}`, 0, size - 1],
  ])('the part %s of a file is returned alone', async (range, start, end) => {
    const response = await get(range);
    expect(response.status).toBe(206);
    expect(response.headers.get('Content-Range')).toBe(`bytes ${start}-${end}/${size}`);
    expect(response.headers.get('Content-Length')).toBe(String(end - start + 1));
    expect(response.headers.get('Content-Type')).toBe('image/png');
    expect((await bytesOf(response)).equals(png.subarray(start, end + 1))).toBe(true);
  });

  it.each(['bytes=0-1,4-5', 'bytes=5-2', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes 0-1'])(
    '%s is no single range of bytes, so the whole file is returned',
    async (range) => {
      const response = await get(range);
      expect(response.status).toBe(200);
      expect((await bytesOf(response)).equals(png)).toBe(true);
    },
  );

  it.each([`bytes=${size}-`, `bytes=${size + 7}-${size + 9}`, 'bytes=-0'])(
    '%s has no byte of the file, so the refusal states how many there are',
    async (range) => {
      const response = await get(range);
      expect(response.status).toBe(416);
      expect(response.headers.get('Content-Range')).toBe(`bytes */${size}`);
      expect(response.headers.get('Cache-Control')).toBeNull();
      expect(await response.json()).toMatchObject({ error: { code: 'range_not_satisfiable', param: 'Range' } });
    },
  );

  it('a part of a file is served only when If-Range matches the file', async () => {
    const etag = (await fetch(api.url + link())).headers.get('ETag') ?? '';
    expect((await get('bytes=0-3', { 'If-Range': etag })).status).toBe(206);
    expect((await get('bytes=0-3', { 'If-Range': '"another"' })).status).toBe(200);
    expect((await get('bytes=0-3', { 'If-Range': 'Tue, 01 Dec 2026 12:00:00 GMT' })).status).toBe(200);
  });
});

describe('viewers', () => {
  it('a viewer learns the length and range support from HEAD, without a body', async () => {
    const response = await fetch(api.url + link(), { method: 'HEAD', headers: { Range: 'bytes=0-3' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Length')).toBe(String(png.length));
    expect(response.headers.get('Accept-Ranges')).toBe('bytes');
    expect(response.headers.get('Content-Type')).toBe('image/png');
    expect(await response.text()).toBe('');
  });

  it('a viewer receives 304 for a file that it has cached', async () => {
    const etag = (await fetch(api.url + link())).headers.get('ETag') ?? '';
    const headers = { 'If-None-Match': etag, 'Cache-Control': '' };
    const again = await fetch(api.url + link(), { headers });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers.get('ETag')).toBe(etag);
    expect((await fetch(api.url + link(), { headers: { ...headers, 'If-None-Match': '"another"' } })).status).toBe(200);
  });

  it('a viewer may read the file and the refusal from any origin', async () => {
    for (const path of [link(), `/v1/artefacts/${name}`]) {
      const { headers } = await fetch(api.url + path, { headers: { Origin: 'https://shop.example' } });
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(headers.get('Access-Control-Expose-Headers')).toContain('Content-Range');
    }
  });
});

describe('the preflight of a range request', () => {
  const ask = (path: string) =>
    fetch(api.url + path, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'range,if-range',
      },
    });

  it('the preflight of a range request is granted for a day', async () => {
    const { status, headers } = await ask(link());
    expect(status).toBe(204);
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(headers.get('Access-Control-Allow-Methods')).toBe('GET, HEAD');
    expect(headers.get('Access-Control-Allow-Headers')).toBe('*');
    expect(headers.get('Access-Control-Max-Age')).toBe('86400');
  });

  it('the preflight of a range request is not granted for routes that take an API key', async () => {
    for (const path of ['/v1/jobs', '/v1/dashboard/read', '/mgmt/v1/jobs']) {
      expect((await ask(path)).headers.get('Access-Control-Allow-Origin')).toBeNull();
    }
  });
});

describe('refused links', () => {
  it('a link without its signature, or without its time, is refused', async () => {
    await expectNoFile(`/v1/artefacts/${name}`);
    await expectNoFile(link().replace(/&signature=.*/, ''));
    await expectNoFile(link().replace(/expires=\d+&/, ''));
  });

  it('a link of which one character was changed is refused', async () => {
    await expectNoFile(link().replace(/expires=(\d+)/, (_, seconds) => `expires=${Number(seconds) + 1}`));
    await expectNoFile(link().replace(/.$/, (digit) => (digit === '0' ? '1' : '0')));
    await expectNoFile(link().replace(name, `${newId('artefact')}.png`));
  });

  it('a link that was signed with another key is refused', async () => {
    const forged = createSignedUrls(PUBLIC_BASE_URL, 'another key').sign(`/v1/artefacts/${name}`, EXPIRES_AT);
    await expectNoFile(forged.slice(PUBLIC_BASE_URL.length));
  });

  it.each(['upl_11111111', '..%2Fuploads%2Fupl_11111111', 'art_11111111', 'art_11111111.png%2F..%2F..%2Fsecret'])(
    'a signed link to %s, which is no name of an artefact, is refused',
    async (other) => {
      await expectNoFile(link(`/v1/artefacts/${other}`));
    },
  );
});
