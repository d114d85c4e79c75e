/** Upload content that is truncated, differs from its announcement, or meets a full disk. */
import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../src/platform/storage/object-store.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { jpegOfSize } from '../support/pictures.ts';
import { answerTo, openRequest } from '../support/raw-request.ts';
import { everythingKept, expectRefusal } from '../support/requests.ts';
import { steeredStore } from '../support/steered-store.ts';

const SIZE = 3_000_000;
const content = jpegOfSize(SIZE);
/** One connection for all requests except those that disconnect. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

let api: TestApi;
let path: string;
let isFull = false;
let filesBefore: number;
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
  filesBefore = (await api.storedFiles()).length;
  const { keys } = await createCustomer(api.orm);
  const announced = await api.call('/v1/uploads', {
    method: 'POST',
    key: keys.test,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ filename: 'a.jpg', bytes: SIZE, mime_type: 'image/jpeg' }),
  });
  path = String(announced.json.upload_url).replace(/^https?:\/\/[^/]+/, '');
});

function put(body: Uint8Array | undefined, range?: string): Promise<Answer> {
  const headers = range === undefined ? {} : { 'Content-Range': range };
  const opened = openRequest(api, { path, method: 'PUT', headers, agent });
  const answer = answerTo(opened);
  opened.end(body);
  return answer;
}

describe('a client that hangs up', () => {
  let requests = 0;

  /** Sends bytes from `start` on; only `sent` of them get through. Resolves once the request has ended. */
  async function hangUp(start: number, sent: number): Promise<void> {
    requests += 1;
    const requestId = `hung-up-${requests}`;
    const headers = {
      'Request-Id': requestId,
      'Content-Length': String(SIZE - start),
      'Content-Range': `bytes ${start}-${SIZE - 1}/${SIZE}`,
    };
    const opened = openRequest(api, { path, method: 'PUT', headers });
    opened.on('error', () => {});
    opened.write(content.subarray(start, start + sent), () => opened.destroy());
    const line = await api.log.waitFor((line) => line.requestId === requestId);
    expect(line).toMatchObject({ msg: 'request', status: 400 });
  }
  /** How many bytes have arrived, by the response to the client. */
  async function arrived(): Promise<number> {
    const { status, headers } = await put(undefined, `bytes */${SIZE}`);
    expect(status).toBe(308);
    const [, last] = /^bytes=0-(\d+)$/.exec(headers.get('Range') ?? '') ?? [];
    return last === undefined ? 0 : Number(last) + 1;
  }

  const expectReady = (answer: Answer) =>
    expect(answer.json).toMatchObject({
      status: 'ready',
      received_bytes: SIZE,
      sha256: createHash('sha256').update(content).digest('hex'),
    });

  it('a client that hangs up at once leaves nothing, and can send the content again', async () => {
    const before = await everythingKept(api);
    await hangUp(0, 1);
    expect(await everythingKept(api)).toEqual(before);
    expectReady(await put(content));
  });

  it('a client that hangs up in the middle can resume after what arrived', async () => {
    await hangUp(0, SIZE / 2);
    const first = await arrived();
    expect(first).toBeGreaterThan(SIZE / 4);
    await hangUp(first, SIZE / 4);
    const second = await arrived();
    expect(second).toBeGreaterThan(first);
    expectReady(await put(content.subarray(second), `bytes ${second}-${SIZE - 1}/${SIZE}`));
  });

  it('a client that hangs up in the middle can send the same request again', async () => {
    await hangUp(0, SIZE / 2);
    expect(await arrived()).toBeGreaterThan(0);
    expectReady(await put(content));
    expect(await api.storedFiles()).toHaveLength(filesBefore + 1);
  });

  it('a client that hangs up in the middle of a part can send the same part again', async () => {
    await put(content.subarray(0, 1_000), `bytes 0-999/${SIZE}`);
    await hangUp(1_000, SIZE / 2);
    expect(await arrived()).toBeGreaterThan(1_000);
    expectReady(await put(content.subarray(1_000), `bytes 1000-${SIZE - 1}/${SIZE}`));
    expect(await api.storedFiles()).toHaveLength(filesBefore + 1);
  });
});

describe('content that differs from its announcement', () => {
  it.each([
    { what: 'one byte too few', body: content.subarray(1) },
    { what: 'one byte too many', body: jpegOfSize(SIZE + 1) },
    { what: 'far too many bytes', body: jpegOfSize(10 * SIZE) },
  ])('content with $what is refused and leaves nothing behind', async ({ body }) => {
    const refused = await expectRefusal(api, () => put(body), { code: 'malformed_request', param: 'Content-Range' });
    expect(refused.status).toBe(400);
    expect((await put(content)).json).toMatchObject({ status: 'ready' });
  });
});

describe('a full disk', () => {
  it('a full disk gives 503 on a connection that stays usable, and the content can be sent again', async () => {
    isFull = true;
    await expectRefusal(api, () => put(content), { code: 'service_unavailable' });
    isFull = false;
    expect((await put(content)).json).toMatchObject({ status: 'ready' });
  });
});
