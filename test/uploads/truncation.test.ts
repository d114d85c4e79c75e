/** A file that ends early is recognised by its format, and a whole one never is. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { isTruncated } from '../../src/uploads/truncation.ts';
import { jpeg, png, webp } from '../support/pictures.ts';
import { makeVideo } from '../support/videos.ts';

const noise = sharp(Buffer.from(Array.from({ length: 300 * 300 * 3 }, (_, at) => (at * 7_919) % 251)), {
  raw: { width: 300, height: 300, channels: 3 },
});
const thumbnail = readFileSync(new URL('../../src/endpoints/damage.detect/fixtures/example.jpg', import.meta.url));
const video = readFileSync(new URL('../../src/endpoints/render.video/fixtures/walk-around-16-9.mp4', import.meta.url));

/** A JPEG whose header holds another one. */
const withThumbnail = Buffer.concat([
  jpeg.subarray(0, 2),
  Buffer.from('ffe1', 'hex'),
  Buffer.from([(jpeg.length + 2) >> 8, (jpeg.length + 2) & 0xff]),
  jpeg,
  thumbnail.subarray(2),
]);

const folder = mkdtempSync(join(tmpdir(), 'truncation-'));
afterAll(() => rmSync(folder, { recursive: true }));
const webmPath = join(folder, 'a.webm');
await makeVideo(webmPath, {
  container: 'webm',
  codec: 'vp8',
  frames: [
    [200, 0, 0],
    [0, 200, 0],
  ],
});

const FILES = [
  { name: 'a JPEG', mediaType: 'image/jpeg', content: jpeg },
  {
    name: 'a progressive JPEG',
    mediaType: 'image/jpeg',
    content: await noise.clone().jpeg({ progressive: true }).toBuffer(),
  },
  { name: 'a JPEG with a thumbnail', mediaType: 'image/jpeg', content: withThumbnail },
  { name: 'a PNG', mediaType: 'image/png', content: png },
  { name: 'a large PNG', mediaType: 'image/png', content: await noise.clone().resize(900).png().toBuffer() },
  { name: 'a WebP', mediaType: 'image/webp', content: webp },
  { name: 'an AVIF', mediaType: 'image/avif', content: await noise.clone().avif().toBuffer() },
  { name: 'a WebM', mediaType: 'video/webm', content: readFileSync(webmPath) },
  { name: 'an MP4', mediaType: 'video/mp4', content: video },
];

const check = (mediaType: string, content: Buffer) =>
  isTruncated(mediaType, {
    bytes: content.length,
    read: async (start, end) => content.subarray(start, end),
  });

describe.each(FILES)('$name', ({ mediaType, content }) => {
  it('a complete file is whole', async () => {
    expect(await check(mediaType, content)).toBe(false);
  });

  it.each([0.2, 0.5, 0.9])('a file cut off after %d of its bytes is truncated', async (share) => {
    expect(await check(mediaType, content.subarray(0, Math.floor(content.length * share)))).toBe(true);
  });

  it('a file without its last byte is truncated', async () => {
    expect(await check(mediaType, content.subarray(0, -1))).toBe(true);
  });
});

it.each(FILES.filter(({ mediaType }) => /jpeg|png|webp/.test(mediaType)))(
  '$name with bytes after its end is whole',
  async ({ mediaType, content }) => {
    expect(await check(mediaType, Buffer.concat([content, Buffer.alloc(300_000)]))).toBe(false);
  },
);

it('a media type whose end cannot be found is never truncated', async () => {
  expect(await check('application/octet-stream', Buffer.from('x'))).toBe(false);
});
