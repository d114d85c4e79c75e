import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../../src/platform/database/orm.ts';
import { ownerOf } from '../../src/platform/storage/object-store.ts';
import { Upload } from '../../src/uploads/entities.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { jpeg, jpegOfSize } from '../support/pictures.ts';
import { expectRefusal, read } from '../support/requests.ts';

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi();
  customer = await createCustomer(api.orm);
});

afterAll(() => api.close());

const announcement = { filename: 'dashboard.jpg', bytes: jpeg.byteLength, mime_type: 'image/jpeg' };

function announce(body: object = announcement, headers: Record<string, string> = {}): Promise<Answer> {
  return api.call('/v1/uploads', {
    method: 'POST',
    key: customer.keys.test,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** The path of a signed link, without the address that it names. */
const pathOf = (upload: Answer) => String(upload.json.upload_url).replace(/^https?:\/\/[^/]+/, '');

function put(path: string, body?: Uint8Array, range?: string): Promise<Answer> {
  return api.call(path, {
    method: 'PUT',
    headers: range === undefined ? {} : { 'Content-Range': range },
    ...(body && { body: new Uint8Array(body) }),
  });
}

const large = jpegOfSize(2_000);

/** An upload of which 1,000 bytes have arrived, the last of them alone. Of so many parts most are empty here. */
async function announceWithParts(parts: number, { lastIsBroken = false } = {}): Promise<Answer> {
  const upload = await announce({ ...announcement, bytes: large.byteLength });
  const keyOf = (part: string) => `uploads/${String(upload.json.id)}.${part}`;
  await api.store.put(keyOf('first'), large.subarray(0, 999));
  await api.store.put(keyOf('empty'), new Uint8Array());
  await api.store.put(keyOf('last'), large.subarray(999, 1_000));
  const keys = [keyOf('first'), ...Array.from({ length: parts - 2 }, () => keyOf('empty')), keyOf('last')];
  await query(
    api.orm.em.fork(),
    'update uploads set received_bytes = $2, part_keys = $3, broken_part_start = $4 where id = $1',
    [upload.json.id, 1_000, keys, lastIsBroken ? 999 : null],
  );
  return upload;
}

const putRest = (upload: Answer, start: number): Promise<Answer> =>
  put(pathOf(upload), large.subarray(start), `bytes ${start}-${large.byteLength - 1}/${large.byteLength}`);

describe('a page of any origin', () => {
  const page = { Origin: 'https://shop.example' };

  it('a page of any origin passes the preflight for sending the content', async () => {
    const path = pathOf(await announce());
    const asks = { ...page, 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'content-range' };
    const { status, headers } = await api.call(path, { method: 'OPTIONS', headers: asks });
    expect(status).toBe(204);
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(headers.get('Access-Control-Allow-Methods')).toBe('PUT');
    expect(headers.get('Access-Control-Allow-Headers')).toBe('*');
  });

  it('a page of any origin may send the content, and read the progress and a refusal', async () => {
    const path = pathOf(await announce());
    const first = { 'Content-Range': `bytes 0-99/${jpeg.byteLength}` };
    const body = new Uint8Array(jpeg.subarray(0, 100));
    const answers = [
      await api.call(path, { method: 'PUT', headers: { ...page, ...first }, body }),
      await api.call(path.replace(/.$/, 'x'), { method: 'PUT', headers: page }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([308, 404]);
    for (const { headers } of answers) {
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(headers.get('Access-Control-Expose-Headers')).toContain('Range');
    }
  });
});

describe('an announced upload', () => {
  it('an announced upload is ready when its content came in one piece, and a job can use it', async () => {
    const announced = await announce();
    expect(announced.status).toBe(201);
    expect(announced.json).toMatchObject({ status: 'pending', upload_headers: { 'Content-Type': 'image/jpeg' } });
    const done = await put(pathOf(announced), jpeg);
    expect(done.json).toMatchObject({ status: 'ready', bytes: jpeg.byteLength, received_bytes: jpeg.byteLength });
    expect(done.json.upload_url).toBeUndefined();
    const job = await read(api, { key: customer.keys.test, json: { input_ref: done.json.id } });
    expect(job.status).toBe(202);
  });

  it('an announced upload is ready when its content came in parts, with the hash of the whole', async () => {
    const size = jpeg.byteLength;
    const path = pathOf(await announce());
    const first = await put(path, jpeg.subarray(0, 100), `bytes 0-99/${size}`);
    expect(first.status).toBe(308);
    expect(first.headers.get('Range')).toBe('bytes=0-99');
    const done = await put(path, jpeg.subarray(100), `bytes 100-${size - 1}/${size}`);
    const direct = await put(pathOf(await announce()), jpeg);
    expect(done.json).toMatchObject({ status: 'ready', sha256: direct.json.sha256 });
  });

  it('an announced upload reports how much has arrived, so that a client can resume after a broken connection', async () => {
    const size = jpeg.byteLength;
    const path = pathOf(await announce());
    const nothing = await put(path, undefined, `bytes */${size}`);
    expect([nothing.status, nothing.headers.get('Range')]).toEqual([308, null]);
    await put(path, jpeg.subarray(0, 100), `bytes 0-99/${size}`);
    const some = await put(path, undefined, `bytes */${size}`);
    expect([some.status, some.headers.get('Range')]).toEqual([308, 'bytes=0-99']);
  });

  it('an announced upload ignores a part that leaves a gap or is repeated', async () => {
    const size = jpeg.byteLength;
    const path = pathOf(await announce());
    const gap = await put(path, jpeg.subarray(100), `bytes 100-${size - 1}/${size}`);
    expect([gap.status, gap.headers.get('Range')]).toEqual([308, null]);
    await put(path, jpeg.subarray(0, 100), `bytes 0-99/${size}`);
    const again = await put(path, jpeg.subarray(0, 100), `bytes 0-99/${size}`);
    expect([again.status, again.headers.get('Range')]).toEqual([308, 'bytes=0-99']);
  });

  it('an announced upload becomes ready at the next request after a crash between its last part and its end', async () => {
    const size = jpeg.byteLength;
    const announced = await announce();
    const partKey = `uploads/${String(announced.json.id)}.part-0.left`;
    await api.store.put(partKey, jpeg);
    await query(
      api.orm.em.fork(),
      'update uploads set received_bytes = bytes, part_keys = array_append(part_keys, $2) where id = $1',
      [announced.json.id, partKey],
    );
    const asked = await put(pathOf(announced), undefined, `bytes */${size}`);
    expect(asked.json).toMatchObject({ status: 'ready', bytes: size });
  });

  it('an announced upload may have 1,000 parts', async () => {
    const upload = await announceWithParts(999);
    expect((await putRest(upload, 1_000)).json).toMatchObject({ status: 'ready', bytes: large.byteLength });
  });

  it('an announced upload may replace the last of 1,000 parts when its request broke off', async () => {
    const upload = await announceWithParts(1_000, { lastIsBroken: true });
    expect((await putRest(upload, 999)).json).toMatchObject({ status: 'ready', bytes: large.byteLength });
  });

  it('a ready upload returns the same when its content is sent again', async () => {
    const path = pathOf(await announce());
    const done = await put(path, jpeg);
    expect((await put(path, jpeg)).text).toBe(done.text);
    expect((await put(path, jpeg.subarray(100, 200), `bytes 100-199/${jpeg.byteLength}`)).text).toBe(done.text);
    expect((await put(path, undefined, `bytes */${jpeg.byteLength}`)).text).toBe(done.text);
  });

  it('a ready upload refuses other content, whole or in part, and keeps its own', async () => {
    const announced = await announce();
    const path = pathOf(announced);
    const done = await put(path, jpeg);
    const other = Buffer.from(jpeg).fill('other', 150, 160);
    const answers = [
      await put(path, other),
      await put(path, other.subarray(100, 200), `bytes 100-199/${jpeg.byteLength}`),
    ];
    expect(answers.map(({ status, error }) => [status, error.code])).toEqual([
      [409, 'upload_already_ready'],
      [409, 'upload_already_ready'],
    ]);
    const short = await put(path, jpeg.subarray(0, 50));
    expect(short.error).toMatchObject({ code: 'malformed_request', param: 'Content-Range' });
    const read = await api.call(`/v1/uploads/${String(announced.json.id)}`, { key: customer.keys.test });
    expect(read.json.sha256).toBe(done.json.sha256);
  });

  it('an announced upload keeps its parts beside each other, in no folder that would stay when they are joined', async () => {
    const announced = await announce();
    await put(pathOf(announced), jpeg.subarray(0, 100), `bytes 0-99/${jpeg.byteLength}`);
    const id = String(announced.json.id);
    const keys: string[] = [];
    for await (const { key } of api.store.list('uploads')) if (ownerOf(key) === id) keys.push(key);
    expect(keys).toEqual([expect.stringMatching(`^uploads/${id}\\.part-0\\.[^/]+$`)]);
  });

  it('an upload is ready with the part that the previous release kept in a folder, and leaves no part behind', async () => {
    const size = jpeg.byteLength;
    const announced = await announce();
    const id = String(announced.json.id);
    const partKey = `uploads/${id}.parts/000000000000.token`;
    await api.store.put(partKey, jpeg.subarray(0, 100));
    await query(api.orm.em.fork(), 'update uploads set received_bytes = 100, part_keys = array[$2] where id = $1', [
      id,
      partKey,
    ]);
    const done = await put(pathOf(announced), jpeg.subarray(100), `bytes 100-${size - 1}/${size}`);
    const direct = await put(pathOf(await announce()), jpeg);
    expect(done.json).toMatchObject({ status: 'ready', sha256: direct.json.sha256 });
    expect((await api.storedFiles()).filter((file) => file.includes(id))).toHaveLength(1);
  });

  it('an announced upload leaves no part behind when it is ready', async () => {
    const announced = await announce();
    await put(pathOf(announced), jpeg);
    const files = await api.storedFiles();
    expect(files.filter((file) => file.includes(String(announced.json.id)))).toHaveLength(1);
  });
});

describe('refused content', () => {
  it('content that is not what was announced is refused, and may be sent again', async () => {
    const text = Buffer.from('not a picture at all'.padEnd(200));
    const path = pathOf(await announce({ ...announcement, bytes: text.byteLength }));
    expect((await put(path, text)).error.code).toBe('unsupported_media_type');
    expect((await put(path, text)).error.code).toBe('unsupported_media_type');
  });

  it('content whose body is shorter than its range is refused', async () => {
    const size = jpeg.byteLength;
    const answer = await put(pathOf(await announce()), jpeg.subarray(0, 50), `bytes 0-99/${size}`);
    expect(answer.error).toMatchObject({ code: 'malformed_request', param: 'Content-Range' });
  });

  it.each([
    ['another size', 'bytes 0-9/10'],
    ['a range past the end', `bytes 0-${jpeg.byteLength}/${jpeg.byteLength}`],
    ['a range that runs backwards', `bytes 9-3/${jpeg.byteLength}`],
    ['no range', 'pages 1-2'],
  ])('content whose Content-Range names %s is refused', async (_, range) => {
    const answer = await put(pathOf(await announce()), jpeg, range);
    expect(answer.error).toMatchObject({ code: 'parameter_invalid', param: 'Content-Range' });
  });

  it('content that has 1,000 parts and is not complete is refused before anything is stored', async () => {
    const upload = await announceWithParts(1_000);
    const refusal = { code: 'parameter_invalid', param: 'Content-Range' } as const;
    const answer = await expectRefusal(api, () => putRest(upload, 1_000), refusal);
    expect(answer.error.message).toContain('larger parts');
  });

  it('content for a changed link is refused as if the upload did not exist', async () => {
    const path = pathOf(await announce());
    const forged = path.replace(/signature=(.)/, (_, first) => `signature=${first === '0' ? '1' : '0'}`);
    const other = path.replace(/upl_[^/]+/, 'upl_11111111111111111111111');
    for (const link of [forged, other, path.replace(/\?.*/, '')]) {
      expect((await put(link, jpeg)).error.code).toBe('resource_not_found');
    }
  });

  it('content for an expired upload is refused', async () => {
    const announced = await announce();
    await api.orm.em.fork().nativeUpdate(Upload, { id: String(announced.json.id) }, { expiresAt: new Date(0) });
    expect((await put(pathOf(announced), jpeg)).error.code).toBe('resource_not_found');
  });
});

describe('an announcement', () => {
  it('an announcement repeated with its Idempotency-Key returns the same upload', async () => {
    const headers = { 'Idempotency-Key': 'announce-once' };
    const first = await announce(announcement, headers);
    const again = await announce(announcement, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    const other = await announce({ ...announcement, filename: 'other.jpg' }, headers);
    expect(other.error.code).toBe('idempotency_key_reuse');
  });

  it.each([
    ['a type that nothing takes', { ...announcement, mime_type: 'application/pdf' }, 'parameter_invalid', 'mime_type'],
    ['no size', { filename: 'a.jpg', mime_type: 'image/jpeg' }, 'parameter_missing', 'bytes'],
    ['no bytes', { ...announcement, bytes: 0 }, 'parameter_invalid', 'bytes'],
    ['a picture of more than 50 MB', { ...announcement, bytes: 50 * 1024 * 1024 + 1 }, 'file_too_large', 'bytes'],
    [
      'a video of more than 2 GB',
      { filename: 'walk.mp4', mime_type: 'video/mp4', bytes: 2 * 1024 * 1024 * 1024 + 1 },
      'file_too_large',
      'bytes',
    ],
    ['a size beyond all limits', { ...announcement, bytes: 1e15 }, 'file_too_large', 'bytes'],
    ['an unknown field', { ...announcement, colour: 'red' }, 'parameter_unknown', 'colour'],
  ])('an announcement of %s is refused', async (_, body, code, param) => {
    expect((await announce(body)).error).toMatchObject({ code, param });
  });

  it('an announcement of a video may have 2 GB', async () => {
    const bytes = 2 * 1024 * 1024 * 1024;
    expect((await announce({ filename: 'walk.mp4', bytes, mime_type: 'video/mp4' })).status).toBe(201);
  });
});
