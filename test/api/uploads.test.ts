import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UPLOAD_IMAGE_BYTES } from '../../src/contracts/media-limits.ts';
import { newId } from '../../src/platform/ids.ts';
import { Upload } from '../../src/uploads/entities.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { jpeg, jpegOfSize, png } from '../support/pictures.ts';
import { expectRefusal, filePart, read, upload } from '../support/requests.ts';

let api: TestApi;
let customer: Customer;
let key: string;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  customer = await createCustomer(api.orm);
  key = customer.keys.test;
});

const post = (body: RequestInit['body'], headers?: Record<string, string>) =>
  api.call('/v1/uploads', { method: 'POST', key, body, ...(headers && { headers }) });

function formWith(name: string, content: Uint8Array, fields: Record<string, string> = {}): FormData {
  const body = new FormData();
  for (const [field, value] of Object.entries(fields)) body.append(field, value);
  body.append(name, filePart(content), 'Tacho größer.jpg');
  return body;
}

describe('an upload', () => {
  it('an upload returns its type, size and hash, and can be read again', async () => {
    const created = await post(formWith('file', png));
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({
      object: 'upload',
      status: 'ready',
      livemode: false,
      filename: 'Tacho größer.jpg',
      mime_type: 'image/png',
      bytes: png.length,
    });
    const { created: createdAt, expires_at: expiresAt } = created.json;
    expect(Number(expiresAt) - Number(createdAt)).toBe(24 * 60 * 60);
    const found = await api.call(`/v1/uploads/${String(created.json.id)}`, { key });
    expect(found.text).toBe(created.text);
  });

  it('an upload may be larger than a picture sent directly', async () => {
    expect((await post(formWith('file', jpegOfSize(11_000_000)))).status).toBe(201);
  });

  it.each([
    { what: 'without its file', body: () => new FormData(), code: 'parameter_missing', param: 'file' },
    {
      what: 'with another field',
      body: () => formWith('file', jpeg, { name: 'x' }),
      code: 'parameter_unknown',
      param: 'name',
    },
    {
      what: 'with a part of another name',
      body: () => formWith('image', jpeg),
      code: 'parameter_unknown',
      param: 'image',
    },
    {
      what: 'that is no picture',
      body: () => formWith('file', Buffer.from('text')),
      code: 'unsupported_media_type',
      param: 'file',
    },
    {
      what: 'that is empty',
      body: () => formWith('file', Buffer.alloc(0)),
      code: 'unsupported_media_type',
      param: 'file',
    },
    {
      what: 'of 50 MB and one byte',
      body: () => formWith('file', jpegOfSize(UPLOAD_IMAGE_BYTES + 1)),
      code: 'file_too_large',
      param: 'file',
    },
  ] as const)('an upload $what is refused', async ({ body, code, param }) => {
    await expectRefusal(api, () => post(body()), { code, param });
  });

  it('an upload in another type of body is refused', () =>
    expectRefusal(api, () => post(new Uint8Array(jpeg), { 'Content-Type': 'image/jpeg' }), {
      code: 'unsupported_media_type',
    }));

  it('an upload whose file name holds a NUL is kept without harm', async () => {
    const boundary = 'b';
    const body = `--b\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''a%00b.jpg\r\n\r\n`;
    const raw = Buffer.concat([Buffer.from(body), jpeg, Buffer.from('\r\n--b--\r\n')]);
    const answer = await post(new Uint8Array(raw), { 'Content-Type': `multipart/form-data; boundary=${boundary}` });
    expect(answer.status).toBe(201);
    expect(answer.json.filename).toBe('ab.jpg');
  });
});

describe('jobs from a refused upload', () => {
  const fromUpload = (input_ref: unknown, as = key) => read(api, { key: as, json: { input_ref } });

  it('a job from an unknown upload is refused', () =>
    expectRefusal(api, () => fromUpload(newId('upload')), { code: 'resource_not_found', param: 'input_ref' }));

  it("a job from another organisation's upload is refused", async () => {
    const stranger = await createCustomer(api.orm);
    const theirs = await upload(api, stranger.keys.test);
    const refused = await expectRefusal(api, () => fromUpload(theirs), {
      code: 'resource_not_found',
      param: 'input_ref',
    });
    const unknown = await fromUpload('upl_11111111');
    expect(refused.error.message.replace(theirs, '')).toBe(unknown.error.message.replace('upl_11111111', ''));
  });

  it("a job from the other mode's upload is refused", async () => {
    const live = await upload(api, customer.keys.live);
    await expectRefusal(api, () => fromUpload(live), { code: 'resource_not_found', param: 'input_ref' });
  });

  it('a job from an expired upload is refused', async () => {
    const id = await upload(api, key);
    await api.orm.em.fork().nativeUpdate(Upload, { id }, { expiresAt: new Date(Date.now() - 1_000) });
    await expectRefusal(api, () => fromUpload(id), { code: 'resource_not_found', param: 'input_ref' });
    const readAgain = () => api.call(`/v1/uploads/${id}`, { key });
    await expectRefusal(api, readAgain, { code: 'resource_not_found', param: 'id' });
  });

  it('a job from an upload without content is refused', async () => {
    const id = await upload(api, key);
    await api.orm.em.fork().nativeUpdate(Upload, { id }, { status: 'pending', sha256: null });
    await expectRefusal(api, () => fromUpload(id), { code: 'parameter_invalid', param: 'input_ref' });
  });

  it('a job from an upload of a type that the endpoint does not take is refused', async () => {
    const id = await upload(api, key);
    await api.orm.em.fork().nativeUpdate(Upload, { id }, { mediaType: 'video/mp4' });
    await expectRefusal(api, () => fromUpload(id), { code: 'unsupported_media_type', param: 'input_ref' });
  });

  it.each(['upl_0', 'job_11111111', '', 7, null, ['upl_11111111'], { id: 'upl_11111111' }])(
    'a job whose input_ref is %j is refused',
    async (ref) => {
      await expectRefusal(api, () => fromUpload(ref), { code: 'parameter_invalid', param: 'input_ref' });
    },
  );

  it('a job without input_ref is refused', () =>
    expectRefusal(api, () => read(api, { key, json: {} }), { code: 'parameter_missing', param: 'input_ref' }));

  it('a job that names its upload as the endpoints of many files do is refused', () =>
    expectRefusal(api, () => read(api, { key, json: { input_ref: 'upl_11111111', input_refs: ['upl_11111111'] } }), {
      code: 'parameter_unknown',
      param: 'input_refs',
    }));
});

describe('an upload that a job used', () => {
  it('an upload that a job used no longer expires, and serves further jobs', async () => {
    const id = await upload(api, key);
    expect((await read(api, { key, json: { input_ref: id } })).status).toBe(202);
    await api.orm.em.fork().nativeUpdate(Upload, { id }, { expiresAt: new Date(Date.now() - 1_000) });
    expect((await read(api, { key, json: { input_ref: id } })).status).toBe(202);
    expect((await api.call(`/v1/uploads/${id}`, { key })).status).toBe(200);
  });
});
