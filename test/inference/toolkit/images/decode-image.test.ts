import sharp from 'sharp';
import { expect, test } from 'vitest';
import { decodeImage } from '../../../../src/inference/toolkit/images/decode-image.ts';
import { ServiceError } from '../../../../src/platform/service-error.ts';
import { rejectionOf } from '../../support/tiny-endpoint.ts';

const BLUE = [51, 102, 204] as const;

function blue(width = 60, height = 40) {
  return sharp({ create: { width, height, channels: 3, background: { r: BLUE[0], g: BLUE[1], b: BLUE[2] } } });
}

/** Random pixels: compress badly, so that half a file is half a picture. */
function noise() {
  const pixels = Buffer.from(Array.from({ length: 120 * 90 * 3 }, (_, index) => (index * 2_654_435_761) >>> 24));
  return sharp(pixels, { raw: { width: 120, height: 90, channels: 3 } });
}

const readable: Record<string, () => Promise<Buffer>> = {
  'a JPEG': () => blue().jpeg({ quality: 100 }).toBuffer(),
  'a PNG': () => blue().png().toBuffer(),
  'a WebP': () => blue().webp({ lossless: true }).toBuffer(),
  'a palette PNG': () => blue().png({ palette: true }).toBuffer(),
  'a 16-bit PNG': () => blue().toColourspace('rgb16').png().toBuffer(),
  'an opaque PNG with alpha': () => blue().ensureAlpha(1).png().toBuffer(),
};

test.each(Object.entries(readable))('%s is decoded to its colours, in 8-bit RGB', async (_, make) => {
  const { width, height, pixels } = await decodeImage(await make());
  expect([width, height, pixels.length]).toEqual([60, 40, 60 * 40 * 3]);
  expect(distance(pixels, BLUE)).toBeLessThanOrEqual(2);
});

test('a CMYK JPEG is decoded to RGB', async () => {
  const { pixels } = await decodeImage(await blue().toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer());
  expect(pixels.length).toBe(60 * 40 * 3);
  // Outside the gamut of the press: near, not equal.
  expect(distance(pixels, BLUE)).toBeLessThanOrEqual(40);
});

test('a greyscale picture is decoded to three equal channels', async () => {
  const { pixels } = await decodeImage(await blue().greyscale().jpeg().toBuffer());
  expect(pixels.length).toBe(60 * 40 * 3);
  expect(new Set(pixels.subarray(0, 3)).size).toBe(1);
});

test('transparency is shown on white', async () => {
  const { pixels } = await decodeImage(await blue().ensureAlpha(0).png().toBuffer());
  expect(distance(pixels, [255, 255, 255])).toBeLessThanOrEqual(0);
});

test('a picture is turned upright by its EXIF orientation', async () => {
  const half = await sharp({ create: { width: 30, height: 40, channels: 3, background: '#ff0000' } })
    .png()
    .toBuffer();
  const image = blue().composite([{ input: half, left: 0, top: 0 }]);
  // Orientation 6: the camera's left edge is the top of the picture as displayed.
  const file = await sharp(await image.png().toBuffer())
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
    .toBuffer();
  const { width, height, pixels } = await decodeImage(file);
  expect([width, height]).toEqual([40, 60]);
  expect(distance(pixels.subarray(0, 3), [255, 0, 0])).toBeLessThanOrEqual(3);
  expect(distance(pixels.subarray(-3), BLUE)).toBeLessThanOrEqual(3);
});

test('an animated WebP is read as its first frame', async () => {
  const red = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#ff0000' } })
    .png()
    .toBuffer();
  const file = await sharp([await blue().png().toBuffer(), red], { join: { animated: true } })
    .webp({ lossless: true })
    .toBuffer();
  expect((await sharp(file, { animated: true }).metadata()).pages).toBe(2);
  const { height, pixels } = await decodeImage(file);
  expect(height).toBe(40);
  expect(distance(pixels, BLUE)).toBeLessThanOrEqual(2);
});

const unreadable: Record<string, { make: () => Promise<Buffer>; advice: RegExp }> = {
  'a truncated JPEG': { make: async () => half(await noise().jpeg().toBuffer()), advice: /Send the complete original/ },
  'a JPEG that lacks its last bytes': {
    make: async () => (await noise().jpeg().toBuffer()).subarray(0, -400),
    advice: /Send the complete original/,
  },
  'a truncated PNG': { make: async () => half(await noise().png().toBuffer()), advice: /Send the complete original/ },
  'a truncated WebP': { make: async () => half(await noise().webp().toBuffer()), advice: /Send the complete original/ },
  'a text file': { make: async () => Buffer.from('not a picture'), advice: /not a readable JPEG, PNG or WebP/ },
  'an empty file': { make: async () => Buffer.alloc(0), advice: /not a readable JPEG, PNG or WebP/ },
  'a picture of more than 50 million pixels': {
    make: () => blue(10_001, 5_000).png().toBuffer(),
    advice: /at most 50,000,000 pixels/,
  },
};

test.each(Object.entries(unreadable))('%s is refused with input_unreadable and advice', async (_, { make, advice }) => {
  const error = await rejectionOf(decodeImage(await make()));
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: 'input_unreadable', retryable: false });
  expect((error as ServiceError).message).toMatch(advice);
});

function half(file: Buffer): Buffer {
  return file.subarray(0, file.length / 2);
}

/** Greatest difference of the first pixel's channels from a colour. */
function distance(pixels: Uint8Array, colour: readonly number[]): number {
  return Math.max(...colour.map((value, channel) => Math.abs((pixels[channel] ?? Number.NaN) - value)));
}
