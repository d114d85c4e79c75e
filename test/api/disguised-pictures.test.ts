/** The media type of a file is sniffed from its content; names and declared types do not matter. */

import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MARKER, pngChunk, withPngChunks, zip } from '../inference/support/crafted-files.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { gif, jpeg, png } from '../support/pictures.ts';
import { DASHBOARD_READ, expectRefusal, filePart } from '../support/requests.ts';

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  key = (await createCustomer(api.orm)).keys.test;
});

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const svg = latin1('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>');
const plain = sharp({ create: { width: 16, height: 16, channels: 3, background: '#777777' } });
const avif = await plain.clone().avif().toBuffer();
const tiff = await plain.clone().tiff().toBuffer();

function send(image: Uint8Array, path = DASHBOARD_READ, field = 'image') {
  const body = new FormData();
  body.append(field, new Blob([new Uint8Array(image)], { type: 'image/jpeg' }), 'dashboard.jpg');
  return api.call(path, { method: 'POST', key, body });
}

describe('images accepted by their content', () => {
  it.each([
    { what: 'a JPEG with an archive behind it', image: Buffer.concat([jpeg, zip('A.class', latin1(MARKER))]) },
    {
      what: 'a PNG with a web page in its comment',
      image: withPngChunks(png, [pngChunk('tEXt', latin1('a\0<html>'))]),
    },
    {
      what: 'an animated PNG',
      image: withPngChunks(png, [pngChunk('acTL', Buffer.from('0000000200000000', 'hex'))]),
    },
  ])('$what is accepted as an image by its content', async ({ image }) => {
    expect((await send(image)).status).toBe(202);
  });

  it('an AVIF image is accepted where the endpoint takes AVIF', async () => {
    expect((await send(avif, '/v1/driver_license/read', 'images')).status).toBe(202);
  });
});

describe('files declared as JPEG', () => {
  it.each([
    { what: 'a GIF with a Java archive behind it', image: Buffer.concat([gif, zip('A.class', latin1(MARKER))]) },
    { what: 'a Java archive with a picture behind it', image: Buffer.concat([zip('A.class', latin1(MARKER)), jpeg]) },
    { what: 'an SVG behind a declaration of XML', image: Buffer.concat([latin1('<?xml version="1.0"?>'), svg]) },
    { what: 'an SVG behind blanks', image: Buffer.concat([latin1('   \n'), svg]) },
    { what: 'a web page with a picture behind it', image: Buffer.concat([latin1('<!doctype html>'), png]) },
    { what: 'a TIFF', image: tiff },
    { what: 'a HEIC', image: Buffer.from('0000001c6674797068656963000000006d6966316865696', 'hex') },
    { what: 'an AVIF, where it is not accepted', image: avif },
    { what: 'a film', image: Buffer.from('00000018667479706d703432000000006d70343269736f6d', 'hex') },
    { what: 'PostScript', image: latin1('%!PS-Adobe-3.0 EPSF-3.0\n') },
    { what: 'a script for ImageMagick', image: latin1('push graphic-context\nviewbox 0 0 9 9\n') },
  ])('$what is refused by its content although it is declared a JPEG', async ({ image }) => {
    const answer = await expectRefusal(api, () => send(image), { code: 'unsupported_media_type', param: 'image' });
    expect(answer.status).toBe(415);
    expect(answer.error.message).toMatch(/must be image\/jpeg, image\/png, image\/webp/);
  });
});

it('the sniffed type of an upload decides which endpoints accept it', async () => {
  const body = new FormData();
  body.append('file', filePart(avif), 'dashboard.jpg');
  const upload = await api.call('/v1/uploads', { method: 'POST', key, body });
  expect(upload.json).toMatchObject({ status: 'ready', mime_type: 'image/avif' });
  const refused = await expectRefusal(
    api,
    () =>
      api.call(DASHBOARD_READ, {
        method: 'POST',
        key,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ input_ref: upload.json.id }),
      }),
    { code: 'unsupported_media_type', param: 'input_ref' },
  );
  expect(refused.status).toBe(415);
});
