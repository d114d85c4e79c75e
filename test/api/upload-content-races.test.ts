/** Concurrent requests send the content of one announced upload, or query its progress. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { query } from '../../src/platform/database/orm.ts';
import type { ObjectStore } from '../../src/platform/storage/object-store.ts';
import { PARTS_AT_MOST } from '../../src/uploads/uploads-store.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { jpegOfSize } from '../support/pictures.ts';
import { answerTo, openRequest } from '../support/raw-request.ts';
import { steeredStore } from '../support/steered-store.ts';
import { until } from '../support/until.ts';

const SIZE = 4_000;
const content = jpegOfSize(SIZE);
const other = jpegOfSize(SIZE).fill('other', SIZE / 2);
const ASK = `bytes */${SIZE}`;

let api: TestApi;
let key: string;
let disk: ObjectStore;
/** What a test lets a request wait for, by what the request is about to do, or has done, in the store. */
let hold: (step: 'put' | 'joined' | 'join') => Promise<void>;

const isPart = (key: string) => key.includes('.part-');

const store = steeredStore(() => disk, {
  async put(key, content) {
    if (isPart(key)) await hold('put');
    await disk.put(key, content);
    if (!isPart(key)) await hold('joined');
  },
  async stream(key, range) {
    await hold('join');
    return disk.stream(key, range);
  },
});

beforeAll(async () => {
  api = await startTestApi({ store });
  disk = api.store;
  key = (await createCustomer(api.orm)).keys.test;
});
afterAll(() => api.close());
beforeEach(() => {
  hold = async () => {};
});

interface Announced {
  id: string;
  path: string;
}

async function announce(): Promise<Announced> {
  const { json } = await api.call('/v1/uploads', {
    method: 'POST',
    key,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ filename: 'a.jpg', bytes: SIZE, mime_type: 'image/jpeg' }),
  });
  return { id: String(json.id), path: String(json.upload_url).replace(/^https?:\/\/[^/]+/, '') };
}

function put({ path }: Announced, range: string, body?: Uint8Array): Promise<Answer> {
  return api.call(path, {
    method: 'PUT',
    headers: { 'Content-Range': range },
    ...(body && { body: new Uint8Array(body) }),
  });
}

/** Bytes from `start` up to, but not with, `end`. */
const putPart = (upload: Announced, from: Uint8Array, start: number, end: number) =>
  put(upload, `bytes ${start}-${end - 1}/${SIZE}`, from.subarray(start, end));

/** Proves that an upload is ready, and that its one stored object is this content. */
async function expectReady({ id }: Announced, expected: Uint8Array): Promise<void> {
  const sha256 = createHash('sha256').update(expected).digest('hex');
  expect((await api.call(`/v1/uploads/${id}`, { key })).json).toMatchObject({ status: 'ready', sha256 });
  const [row] = await query<{ storage_key: string }>(
    api.orm.em.fork(),
    'select storage_key from uploads where id = $1',
    [id],
  );
  expect(Buffer.compare(await disk.get(String(row?.storage_key)), expected)).toBe(0);
  expect((await api.storedFiles()).filter((file) => file.includes(id))).toHaveLength(1);
}

/** Holds the first request that reaches a step, until it is released. */
function holdFirst(at: Parameters<typeof hold>[0]): { isHeld: () => boolean; release: () => void } {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  hold = async (step) => {
    if (step !== at || isHeld) return;
    isHeld = true;
    await held.promise;
  };
  return { isHeld: () => isHeld, release: held.resolve };
}

describe('an upload that several requests finish', () => {
  it('an upload that several requests finish is ready with its content, and every request gets it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const upload = await announce();
      for (const start of [0, 1_000, 2_000]) await putPart(upload, content, start, start + 1_000);
      const asks = Array.from({ length: 12 }, () => put(upload, ASK));
      const answers = await Promise.all([putPart(upload, content, 3_000, SIZE), ...asks]);
      expect(answers[0]?.json).toMatchObject({ status: 'ready' });
      for (const { status, json, headers } of answers) {
        // Those that came before the last part.
        const isEarly = headers.get('Range') === 'bytes=0-2999';
        expect([status, json.status]).toEqual(isEarly ? [308, 'pending'] : [200, 'ready']);
      }
      await expectReady(upload, content);
    }
  });

  it.each([
    { when: 'begins to join', step: 'join' as const },
    { when: 'has joined', step: 'joined' as const },
  ])('a ready upload is not touched by a slower request that $when meanwhile', async ({ step }) => {
    const upload = await announce();
    await putPart(upload, content, 0, 1_000);
    const { isHeld, release } = holdFirst(step);
    const slow = putPart(upload, content, 1_000, SIZE);
    await until(isHeld);
    const fast = await put(upload, ASK);
    release();
    expect([fast.status, fast.json.status]).toEqual([200, 'ready']);
    expect((await slow).text).toBe(fast.text);
    expect((await slow).status).toBe(200);
    await expectReady(upload, content);
  });

  it('an upload whose content is not as announced starts over once, not while the right content arrives', async () => {
    const upload = await announce();
    const text = Buffer.alloc(SIZE, 'not a picture at all ');
    const { isHeld, release } = holdFirst('joined');
    const slow = putPart(upload, text, 0, SIZE);
    await until(isHeld);
    expect((await put(upload, ASK)).error.code).toBe('unsupported_media_type');
    await putPart(upload, content, 0, 1_000);
    release();
    expect((await slow).error.code).toBe('unsupported_media_type');
    const asked = await put(upload, ASK);
    expect([asked.status, asked.headers.get('Range')]).toEqual([308, 'bytes=0-999']);
    await putPart(upload, content, 1_000, SIZE);
    await expectReady(upload, content);
  });
});

describe('content that ends after other content was taken', () => {
  /** The whole file; its second half is still to come. */
  async function beginWhole(upload: Announced, body: Uint8Array): Promise<() => Promise<Answer>> {
    let begun = false;
    hold = async (step) => {
      begun ||= step === 'put';
    };
    const headers = { 'Content-Length': String(SIZE) };
    const opened = openRequest(api, { path: upload.path, method: 'PUT', headers });
    opened.write(body.subarray(0, SIZE / 2));
    await until(() => begun);
    return () => {
      const answer = answerTo(opened);
      opened.end(body.subarray(SIZE / 2));
      return answer;
    };
  }

  it('content that ends after other content was taken is refused, and the ready upload stays', async () => {
    const upload = await announce();
    const endSlow = await beginWhole(upload, other);
    await putPart(upload, content, 0, SIZE);
    const slow = await endSlow();
    expect([slow.status, slow.error.code]).toEqual([409, 'upload_already_ready']);
    await expectReady(upload, content);
  });

  it('content that ends after the same content was taken returns the ready upload', async () => {
    const upload = await announce();
    const endSlow = await beginWhole(upload, content);
    const fast = await putPart(upload, content, 0, SIZE);
    const slow = await endSlow();
    expect([slow.status, slow.text]).toEqual([200, fast.text]);
    await expectReady(upload, content);
  });

  it('content that ends after a part was taken gets the range that has arrived, and the accepted parts stay', async () => {
    const upload = await announce();
    const endSlow = await beginWhole(upload, other);
    await putPart(upload, content, 0, 1_000);
    const slow = await endSlow();
    expect([slow.status, slow.headers.get('Range')]).toEqual([308, 'bytes=0-999']);
    const done = await putPart(upload, content, 1_000, SIZE);
    expect([done.status, done.json.status]).toEqual([200, 'ready']);
    await expectReady(upload, content);
  });
});

it('a part that arrives while the last allowed one is entered is not entered, and leaves nothing', async () => {
  const upload = await announce();
  await putPart(upload, content, 0, 1_000);
  const { isHeld, release } = holdFirst('put');
  const slow = putPart(upload, content, 1_000, SIZE);
  await until(isHeld);
  const files = await api.storedFiles();
  await query(
    api.orm.em.fork(),
    'update uploads set part_keys = array_fill(part_keys[1], array[$2::integer]) where id = $1',
    [upload.id, PARTS_AT_MOST],
  );
  release();
  expect([(await slow).status, (await slow).headers.get('Range')]).toEqual([308, 'bytes=0-999']);
  expect(await api.storedFiles()).toEqual(files);
});

it('parts that the previous release accepted are requested again', async () => {
  const upload = await announce();
  await disk.put(`uploads/${upload.id}.parts/000000000000`, content.subarray(0, 1_000));
  await query(api.orm.em.fork(), 'update uploads set received_bytes = 1000 where id = $1', [upload.id]);
  const asked = await putPart(upload, content, 1_000, SIZE);
  expect([asked.status, asked.headers.get('Range'), asked.json.received_bytes]).toEqual([308, null, 0]);
  const done = await putPart(upload, content, 0, SIZE);
  expect([done.status, done.json.status]).toEqual([200, 'ready']);
});
