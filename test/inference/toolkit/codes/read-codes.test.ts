/** Codes that this test draws, decoded by the installed package. */

import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import sharp, { type OverlayOptions } from 'sharp';
import { expect, test } from 'vitest';
import { MEGABYTE } from '../../../../src/contracts/media-limits.ts';
import { boundMemory, forkInSandbox } from '../../../../src/inference/runtime/sandbox.ts';
import {
  readCodes,
  readLargeCodes,
  readTiltedCodes,
  type Symbology,
} from '../../../../src/inference/toolkit/codes/read-codes.ts';
import { decodeImage } from '../../../../src/inference/toolkit/images/decode-image.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import { describeWith } from '../../../support/needs.ts';
import { type CodeFormat, drawCode } from '../../support/coded.ts';

const VIN = '1M8GDM9AXKP042788';

async function scene(width: number, height: number, ...overlays: OverlayOptions[]): Promise<RgbImage> {
  const background = { width, height, channels: 3, background: '#d0d0d0' } as const;
  return decodeImage(await sharp({ create: background }).composite(overlays).jpeg().toBuffer());
}

test.each<[Symbology, CodeFormat]>([
  ['code_39', 'Code39'],
  ['code_93', 'Code93'],
  ['code_128', 'Code128'],
  ['data_matrix', 'DataMatrix'],
  ['qr', 'QRCode'],
  ['aztec', 'Aztec'],
  ['pdf417', 'PDF417'],
])('the reader decodes a code of the symbology %s', async (symbology, format) => {
  const input = await drawCode(format, VIN);
  const { width, height } = await sharp(input).metadata();
  const codes = await readCodes(await scene(1200, 800, { input, left: 300, top: 200 }));
  expect(codes).toMatchObject([{ symbology, content: { text: VIN, bytes: new TextEncoder().encode(VIN) } }]);
  for (const { x, y } of codes[0]?.quad ?? []) {
    expect(x).toBeGreaterThanOrEqual(300);
    expect(x).toBeLessThanOrEqual(300 + width);
    expect(y).toBeGreaterThanOrEqual(200);
    expect(y).toBeLessThanOrEqual(200 + height);
  }
});

test.each([13, -25])('the reader decodes a PDF417 that is tilted by %i degrees', async (degrees) => {
  const text = `${VIN} `.repeat(8);
  const code = await sharp(await drawCode('PDF417', text, 3))
    .flatten({ background: '#ffffff' })
    .rotate(degrees, { background: '#d0d0d0' })
    .png()
    .toBuffer();
  const picture = await scene(1600, 1000, { input: code, left: 300, top: 200 });
  expect((await readCodes(picture, ['pdf417'])).filter(({ content }) => content)).toEqual([]);
  const [found] = await readTiltedCodes(picture, ['pdf417']);
  expect(found?.content?.text).toBe(text);
  const [left, right] = found?.quad ?? [];
  const tilt = Math.atan2((right?.y ?? 0) - (left?.y ?? 0), (right?.x ?? 0) - (left?.x ?? 0));
  expect((tilt * 180) / Math.PI).toBeCloseTo(degrees, -0.5);
});

test('the reader finds several codes, each where it is', async () => {
  const [left, right] = [await drawCode('QRCode', 'left', 6), await drawCode('DataMatrix', 'right', 6)];
  const codes = await readCodes(
    await scene(1600, 900, { input: left, left: 100, top: 100 }, { input: right, left: 1000, top: 400 }),
  );
  const placed = codes.map(({ content, quad }) => `${content?.text} ${Math.round(quad[0].x / 100)}`);
  expect(placed.toSorted((a, b) => a.localeCompare(b))).toEqual(['left 1', 'right 10']);
});

test('the reader finds light codes on dark ground, unless told that there are none', async () => {
  const code = await sharp(await drawCode('QRCode', VIN, 6))
    .flatten({ background: '#ffffff' })
    .negate()
    .png()
    .toBuffer();
  const picture = await scene(800, 600, { input: code, left: 100, top: 100 });
  expect(await readCodes(picture, ['qr'])).toMatchObject([{ content: { text: VIN } }]);
  expect(await readCodes(picture, ['qr'], { lightOnDark: false })).toEqual([]);
});

test('the reader looks only for the symbologies asked for', async () => {
  const picture = await scene(800, 600, { input: await drawCode('QRCode', VIN), left: 100, top: 100 });
  expect(await readCodes(picture, ['pdf417', 'code_39'])).toEqual([]);
});

test('the reader finds nothing in a picture without codes, even one of a single pixel', async () => {
  expect(await readCodes(await scene(640, 480))).toEqual([]);
  expect(await readCodes({ width: 1, height: 1, pixels: new Uint8Array(3) })).toEqual([]);
});

test('the first corner of a code is the start of its upper edge, however the code is turned', async () => {
  const input = await sharp(await drawCode('QRCode', VIN, 5))
    .rotate(180)
    .png()
    .toBuffer();
  const [code] = await readCodes(await scene(800, 800, { input, left: 200, top: 200 }));
  const [topLeft, , bottomRight] = code?.quad ?? [];
  expect(topLeft?.x).toBeGreaterThan(bottomRight?.x ?? Number.NaN);
  expect(topLeft?.y).toBeGreaterThan(bottomRight?.y ?? Number.NaN);
});

test('a code that cannot be corrected is reported without content', async () => {
  const input = await drawCode('QRCode', VIN, 8);
  const blot = Buffer.from('<svg width="130" height="100"><rect width="130" height="100" fill="black"/></svg>');
  const picture = await scene(600, 600, { input, left: 100, top: 100 }, { input: blot, left: 190, top: 190 });
  expect(await readCodes(picture)).toMatchObject([{ symbology: 'qr', content: null }]);
});

test('the reader finds codes in a large picture that are too small in the reduced one, in pixels of the picture', async () => {
  const input = await drawCode('DataMatrix', VIN, 2);
  const picture = await scene(4600, 3400, { input, left: 3000, top: 2000 });
  expect((await readLargeCodes(picture)).filter(({ content }) => content)).toEqual([]);
  const [code] = await readCodes(picture);
  expect(code?.content?.text).toBe(VIN);
  expect(code?.quad[0].x).toBeCloseTo(3004, -1);
  expect(code?.quad[0].y).toBeCloseTo(2004, -1);
});

describeWith('linux', 'in the sandbox of child processes', () => {
  test('the reader searches the largest accepted picture within 512 MB', async () => {
    const child = forkInSandbox(new URL('../../support/code-reader.ts', import.meta.url), {
      readable: [fileURLToPath(new URL('../../support/', import.meta.url))],
    });
    try {
      await once(child, 'message');
      await boundMemory(child.pid ?? 0, 512 * MEGABYTE);
      child.send({ width: 8_000, height: 6_250 });
      expect(await once(child, 'message')).toEqual([[], undefined]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
