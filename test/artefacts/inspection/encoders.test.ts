/** What encoders write without metadata is kept, whatever their options; make_encoder_files.py made part of the files. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import { afterAll, expect, test } from 'vitest';
import { inspectArtefact } from '../../../src/artefacts/inspection/inspect-artefact.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../../src/contracts/media-limits.ts';
import { makeVideo } from '../../support/videos.ts';

interface EncodedFile {
  /** Of a picture or film. */
  size: [width: number, height: number] | null;
  /** Base64. */
  content: string;
}

const files = JSON.parse(readFileSync(new URL('encoder-files.json', import.meta.url), 'utf8')) as Record<
  string,
  EncodedFile
>;
const folder = mkdtempSync(join(tmpdir(), 'made-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const mediaTypeOf = (name: string) => ARTEFACT_MEDIA_TYPES[name.split('.').at(-1) ?? ''] ?? '';

test.each(Object.entries(files))('a file of an encoder is accepted with its size: %s', (name, { size, content }) => {
  const [width, height] = size ?? [];
  expect(inspectArtefact(Buffer.from(content, 'base64'), mediaTypeOf(name))).toEqual(size && { width, height });
});

const flag = fc.boolean();
const quality = fc.integer({ min: 1, max: 100 });
const formats = {
  jpeg: fc.record({
    quality,
    progressive: flag,
    mozjpeg: flag,
    trellisQuantisation: flag,
    overshootDeringing: flag,
    optimiseScans: flag,
    optimiseCoding: flag,
    quantisationTable: fc.integer({ min: 0, max: 8 }),
    chromaSubsampling: fc.constantFrom('4:2:0', '4:4:4'),
  }),
  png: fc.record(
    {
      progressive: flag,
      adaptiveFiltering: flag,
      compressionLevel: fc.integer({ min: 0, max: 9 }),
      // With a palette.
      colours: fc.integer({ min: 2, max: 256 }),
    },
    { requiredKeys: [] },
  ),
  webp: fc.record({
    quality,
    lossless: flag,
    nearLossless: flag,
    smartSubsample: flag,
    alphaQuality: fc.integer({ min: 0, max: 100 }),
    effort: fc.integer({ min: 0, max: 4 }),
  }),
};
/** Besides grey. */
const COLOURS = { jpeg: ['srgb', 'cmyk'], png: ['srgb', 'rgb16'], webp: ['srgb'] };

test.each(Object.keys(formats) as (keyof typeof formats)[])(
  'a %s by sharp is accepted, whatever its options',
  async (format) => {
    const picture = fc.record({
      width: fc.integer({ min: 1, max: 60 }),
      height: fc.integer({ min: 1, max: 60 }),
      channels: fc.constantFrom(1, 2, 3, 4),
      coloursOf: fc.constantFrom(...COLOURS[format]),
      level: fc.integer({ min: 0, max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(picture, formats[format], async ({ width, height, channels, coloursOf, level }, options) => {
        const pixels = Buffer.alloc(width * height * channels, Buffer.of(level, 3, 200, 77, 255));
        const file = await sharp(pixels, { raw: { width, height, channels } })
          .toColourspace(channels <= 2 && !('colours' in options) ? 'b-w' : coloursOf)
          .toFormat(format, options)
          .toBuffer();
        expect(inspectArtefact(file, `image/${format}`)).toEqual({ width, height });
      }),
      { numRuns: 100 },
    );
  },
);

test('an animated WebP by sharp is accepted', async () => {
  const frames = await Promise.all(
    ['#cc0000', '#00cc00'].map((background) =>
      sharp({ create: { width: 9, height: 5, channels: 4, background } })
        .png()
        .toBuffer(),
    ),
  );
  const file = await sharp(frames, { join: { animated: true } })
    .webp()
    .toBuffer();
  expect(inspectArtefact(file, 'image/webp')).toEqual({ width: 9, height: 5 });
});

test.each([true, false])("a film of the tests' muxer is accepted, with its index first: %s", async (fastStart) => {
  const path = join(folder, `${fastStart}.mp4`);
  await makeVideo(path, {
    frames: [
      [1, 2, 3],
      [4, 5, 6],
    ],
    width: 64,
    height: 48,
    fastStart,
  });
  expect(inspectArtefact(readFileSync(path), 'video/mp4')).toEqual({ width: 64, height: 48 });
});

test.each(['{}', '[1, "é"]', '0', ' null\n'])('the text %j is accepted as JSON', (text) => {
  expect(inspectArtefact(Buffer.from(text), 'application/json')).toBeNull();
});
