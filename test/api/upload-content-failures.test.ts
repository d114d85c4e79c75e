/** The content of an announced upload breaks off, is not what was announced, or finds the disk full. */
import { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { jpegOfSize } from '../support/pictures.ts';
import { answerTo, openRequest } from '../support/raw-request.ts';
import { everythingKept, expectRefusal } from '../support/requests.ts';
import { steeredStore } from '../support/steered-store.ts';

const SIZE = 3_000_000;
const content = jpegOfSize(SIZE);
/** One connection for all requests but those that hang up. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

let api: TestApi;
let path: string;
let isFull = false;
let disk: ObjectStore;

const store = steeredStore(() => disk, {
  async put(key, content) {
    if (!isFull) return disk.put(key, content);
    (content as Readable).destroy();
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  },
});

beforeAll(async () => {
  api = await startTestApi({ store });
  disk = api.store;
});
afterAll(async () => {
  agent.destroy();
  await api.close();
});
beforeEach(async () => {
  isFull = false;
  const { keys } = await createCustomer(api.orm);
  const announced = await api.call('/v1/uploads', {
    method: 'POST',
    key: keys.test,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ filename: 'a.jpg', bytes: SIZE, mime_type: 'image/jpeg' }),
  });
  path = String(announced.json.upload_url).replace(/^https?:\/\/[^/]+/, '');
});

function put(body: Uint8Array): Promise<Answer> {
  const opened = openRequest(api, { path, method: 'PUT', headers: {}, agent });
  const answer = answerTo(opened);
  opened.end(body);
  return answer;
}

describe('a client that hangs up', () => {
  it.each([
    { when: 'at once', sent: 0 },
    { when: 'in the middle', sent: SIZE / 2 },
  ])('$when leaves nothing, and can send the content again', async ({ sent }) => {
    const before = await everythingKept(api);
    const requestId = `hung-up-after-${sent}-bytes`;
    const headers = { 'Request-Id': requestId, 'Content-Length': String(SIZE) };
    const opened = openRequest(api, { path, method: 'PUT', headers });
    opened.on('error', () => {});
    opened.write(content.subarray(0, sent + 1), () => opened.destroy());
    const line = await api.log.waitFor((line) => line.requestId === requestId);
    expect(line).toMatchObject({ msg: 'request', status: 400 });
    expect(await everythingKept(api)).toEqual(before);
    expect((await put(content)).json).toMatchObject({ status: 'ready', received_bytes: SIZE });
  });
});

describe('content that is not as announced is refused and leaves nothing', () => {
  it.each([
    { what: 'one byte too few', body: content.subarray(1) },
    { what: 'one byte too many', body: jpegOfSize(SIZE + 1) },
    { what: 'far too many bytes', body: jpegOfSize(10 * SIZE) },
  ])('$what', async ({ body }) => {
    const refused = await expectRefusal(api, () => put(body), { code: 'malformed_request', param: 'Content-Range' });
    expect(refused.status).toBe(400);
    expect((await put(content)).json).toMatchObject({ status: 'ready' });
  });
});

describe('a full disk', () => {
  it('is answered 503, on a connection that carries the next request, and the content can be sent again', async () => {
    isFull = true;
    await expectRefusal(api, () => put(content), { code: 'service_unavailable' });
    isFull = false;
    expect((await put(content)).json).toMatchObject({ status: 'ready' });
  });
});
