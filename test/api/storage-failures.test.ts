/** A full disk returns 503 and leaves nothing behind; the service recovers as soon as there is space. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../src/platform/storage/object-store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { jpeg, jpegOfSize } from '../support/pictures.ts';
import { expectRefusal, filePart, read, upload } from '../support/requests.ts';
import { steeredStore } from '../support/steered-store.ts';

let api: TestApi;
let key: string;
/** Null while there is space. */
let failure: ((content: Readable) => Promise<void>) | null = null;
let disk: ObjectStore;

const store = steeredStore(() => disk, {
  put: (key, content) =>
    failure ? failure(content instanceof Uint8Array ? Readable.from([content]) : content) : disk.put(key, content),
});

beforeAll(async () => {
  api = await startTestApi({ store });
  disk = api.store;
});
afterAll(() => api.close());
beforeEach(async () => {
  key = (await createCustomer(api.orm)).keys.test;
  failure = null;
});

const noSpace = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

const FAILURES = {
  'before the first byte': () => Promise.reject(noSpace()),
  'in the middle': async (content: Readable) => {
    await once(content, 'readable');
    content.read();
    content.destroy();
    throw noSpace();
  },
  'as a writer that fails its source': async (content: Readable) => {
    await once(content, 'readable');
    content.destroy(noSpace());
    await once(content, 'close').catch(() => {});
    throw noSpace();
  },
};

describe.each(Object.entries(FAILURES))('a store that is full %s', (_, fail) => {
  it.each([
    { size: 'small', image: jpeg },
    { size: 'large', image: jpegOfSize(9_000_000) },
  ])('a full store refuses a $size picture with 503, and takes the next one when there is room', async ({ image }) => {
    failure = fail;
    await expectRefusal(api, () => read(api, { key, image, idempotencyKey: 'full-disk' }), {
      code: 'service_unavailable',
    });
    failure = null;
    expect((await read(api, { key, image, idempotencyKey: 'full-disk' })).status).toBe(202);
  });

  it('a full store refuses an upload with 503, and accepts the next one when there is space', async () => {
    failure = fail;
    const body = new FormData();
    body.append('file', filePart(jpegOfSize(5_000_000)), 'a.jpg');
    await expectRefusal(api, () => api.call('/v1/uploads', { method: 'POST', key, body }), {
      code: 'service_unavailable',
    });
    failure = null;
    expect(await upload(api, key)).toMatch(/^upl_/);
  });
});
