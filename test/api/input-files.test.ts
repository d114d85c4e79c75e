/** Limits of an image sent directly. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MULTIPART_IMAGE_BYTES } from '../../src/contracts/media-limits.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { gif, jpeg, jpegOfSize, png, webp } from '../support/pictures.ts';
import { DASHBOARD_READ, expectRefusal, filePart, form, read } from '../support/requests.ts';

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  key = (await createCustomer(api.orm)).keys.test;
});

const post = (body: FormData) => api.call(DASHBOARD_READ, { method: 'POST', key, body });

describe('accepted images', () => {
  it.each([
    { type: 'a JPEG', image: jpeg },
    { type: 'a PNG', image: png },
    { type: 'a WebP', image: webp },
  ])('$type is accepted as an image, whatever its file name and part claim', async ({ image }) => {
    const body = new FormData();
    body.append('image', new Blob([new Uint8Array(image)], { type: 'text/plain' }), 'picture.txt');
    expect((await post(body)).status).toBe(202);
  });

  it('an image in a part named "image[]", as some form libraries name it, is accepted', async () => {
    const body = new FormData();
    body.append('image[]', filePart(jpeg), 'dashboard.jpg');
    expect((await post(body)).status).toBe(202);
  });

  it('an image of exactly 10 MB is accepted', async () => {
    expect((await read(api, { key, image: jpegOfSize(MULTIPART_IMAGE_BYTES) })).status).toBe(202);
  });
});

describe('refused images', () => {
  it('an image that exceeds 10 MB by one byte is refused', () =>
    expectRefusal(api, () => read(api, { key, image: jpegOfSize(MULTIPART_IMAGE_BYTES + 1) }), {
      code: 'file_too_large',
      param: 'image',
    }));

  it('an image that is far too large is refused', () =>
    expectRefusal(api, () => read(api, { key, image: jpegOfSize(4 * MULTIPART_IMAGE_BYTES) }), {
      code: 'file_too_large',
      param: 'image',
    }));

  it.each([
    { what: 'text', image: Buffer.from('mileage: 12345') },
    { what: 'a GIF', image: gif },
    { what: 'a PDF', image: Buffer.from('%PDF-1.7\n1 0 obj') },
    { what: 'an SVG', image: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') },
    { what: 'an empty file', image: Buffer.alloc(0) },
    { what: 'the first bytes of a JPEG and then a web page', image: Buffer.from('\xff\xd8<html></html>', 'latin1') },
  ])('$what is refused as an image, although it is named and declared a JPEG', async ({ image }) => {
    const body = new FormData();
    body.append('image', new Blob([new Uint8Array(image)], { type: 'image/jpeg' }), 'dashboard.jpg');
    const answer = await expectRefusal(api, () => post(body), { code: 'unsupported_media_type', param: 'image' });
    expect(answer.status).toBe(415);
  });

  it('an empty image is refused with a message that says so', async () => {
    expect((await read(api, { key, image: Buffer.alloc(0) })).error.message).toMatch(/is empty/);
  });

  it('a request without its image part is refused', () =>
    expectRefusal(api, () => read(api, { key, image: null, fields: { unit_hint: 'km' } }), {
      code: 'parameter_missing',
      param: 'image',
    }));

  it('a request whose body has no part at all is refused', () =>
    expectRefusal(api, () => post(new FormData()), { code: 'parameter_missing', param: 'image' }));

  it('a request with two files is refused', () => {
    const body = form({});
    body.append('image', filePart(png), 'second.png');
    return expectRefusal(api, () => post(body), { code: 'parameter_invalid', param: 'image' });
  });

  it('a request with many files is refused', () => {
    const body = form({});
    for (let index = 0; index < 200; index += 1) body.append('image', filePart(png), `${index}.png`);
    return expectRefusal(api, () => post(body), { code: 'parameter_invalid', param: 'image' });
  });

  it('a request whose image part has another name is refused', () => {
    const body = new FormData();
    body.append('photo', filePart(jpeg), 'dashboard.jpg');
    return expectRefusal(api, () => post(body), { code: 'parameter_unknown', param: 'photo' });
  });

  it('a request with another file before or after its image is refused', async () => {
    const after = form({});
    after.append('mask', filePart(png), 'mask.png');
    await expectRefusal(api, () => post(after), { code: 'parameter_unknown', param: 'mask' });
    const before = new FormData();
    before.append('mask', filePart(png), 'mask.png');
    before.append('image', filePart(jpeg), 'dashboard.jpg');
    await expectRefusal(api, () => post(before), { code: 'parameter_unknown', param: 'mask' });
  });

  it('an image sent as a text part is refused with a message that says so', async () => {
    const body = new FormData();
    body.append('image', '/home/me/dashboard.jpg');
    const answer = await expectRefusal(api, () => post(body), { code: 'parameter_invalid', param: 'image' });
    expect(answer.error.message).toMatch(/file/);
  });
});
