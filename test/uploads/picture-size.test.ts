/** Sizes of pictures by their headers: what a viewer shows, or nothing. */
import { Readable } from 'node:stream';
import fc from 'fast-check';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { readPictureSize } from '../../src/uploads/picture-size.ts';

const read = (content: Buffer, mediaType: string) =>
  readPictureSize(
    { stream: async (_key, range) => Readable.from([content.subarray(range?.start, (range?.end ?? 0) + 1)]) },
    { storageKey: 'a', mediaType, bytes: content.length },
  );

const picture = () => sharp({ create: { width: 61, height: 34, channels: 3, background: '#369' } });
const noisy = () =>
  sharp({ create: { width: 61, height: 34, channels: 4, background: { r: 9, g: 99, b: 9, alpha: 0.5 } } });

it.each([
  ['a JPEG', 'image/jpeg', () => picture().jpeg()],
  ['a progressive JPEG', 'image/jpeg', () => picture().jpeg({ progressive: true })],
  ['a PNG', 'image/png', () => picture().png()],
  ['a lossy WebP', 'image/webp', () => picture().webp()],
  ['a lossless WebP', 'image/webp', () => picture().webp({ lossless: true })],
  ['a WebP with transparency', 'image/webp', () => noisy().webp()],
] as const)('the size of %s is read', async (_, mediaType, encode) => {
  expect(await read(await encode().toBuffer(), mediaType)).toEqual({ width: 61, height: 34 });
});

it.each([1, 3, 6, 8])('a JPEG of orientation %i is measured as it is displayed', async (orientation) => {
  const content = await picture().withMetadata({ orientation }).jpeg().toBuffer();
  const { width, height } = (await sharp(content).metadata()).autoOrient;
  expect(await read(content, 'image/jpeg')).toEqual({ width, height });
});

it('no size is read from a format without a readable header, nor from one that may be turned', async () => {
  const turned = await picture().withMetadata({ orientation: 6 }).webp().toBuffer();
  expect(await read(turned, 'image/webp')).toBeNull();
  expect(await read(await picture().avif().toBuffer(), 'image/avif')).toBeNull();
});

it('reading a size never throws, and always ends, on damaged headers', async () => {
  const whole = await picture().withMetadata({ orientation: 6 }).jpeg().toBuffer();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: whole.length }),
      fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 8 }),
      fc.constantFrom('image/jpeg', 'image/png', 'image/webp'),
      async (length, changes, mediaType) => {
        const damaged = Buffer.from(whole.subarray(0, length));
        for (const [at, value] of changes) if (at < damaged.length) damaged[at] = value;
        await read(damaged, mediaType);
      },
    ),
    { numRuns: 300 },
  );
});
