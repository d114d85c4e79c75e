/** The pipeline with both kinds of model: a character detector, and a text-line detector with a recogniser. */
import { expect, test } from 'vitest';
import { vinRead } from '../../../src/endpoints/vin.read/contract.ts';
import { pipeline } from '../../../src/endpoints/vin.read/pipeline.ts';
import type { Result } from '../../../src/endpoints/vin.read/result.ts';
import { createResultCheck } from '../../../src/inference/toolkit/result-check.ts';
import { coded } from '../../inference/support/coded.ts';
import { lineAt, modelSeeing, readerSaying, spelt } from '../../inference/support/print-saying.ts';
import { detectorSeeing, modelSaying, picture, type Seen, sent } from '../../inference/support/saying-model.ts';

const check = createResultCheck([vinRead]);
const LABELS = Array.from('0123456789ABCDEFGHJKLMNPRSTUVWXYZ');
const VIN = '1M8GDM9AXKP042788';

/** Each character three pixels further right and one pixel further down. */
const seen = (text: string): Seen[] =>
  text.split('').map((label, index) => ({
    label,
    score: 0.9 - index / 100,
    box: [3 * index, 10 + index, 3 * index + 2, 14 + index],
  }));

async function run(characters: Seen[], parameters = {}): Promise<Result> {
  const model = modelSaying({ detector: detectorSeeing(LABELS, characters) });
  return (await pipeline.create(model)({ pictures: sent(picture), parameters })) as Result;
}

test('vin.read reads seventeen characters from left to right as a VIN with its check digit', async () => {
  const { vin } = await run(seen(VIN).toReversed(), { validate_check_digit: true });
  expect(vin).toMatchObject({
    text: VIN,
    confidence: expect.closeTo(0.74),
    location: null,
    bbox: { x: 0, y: 10, width: 50, height: 20 },
    quad: [
      { x: 0, y: 10 },
      { x: 50, y: 26 },
      { x: 50, y: 30 },
      { x: 0, y: 14 },
    ],
    check_digit: { found: 'X', expected: 'X', valid: true },
  });
  expect(vin?.characters[1]).toEqual({
    character: 'M',
    confidence: expect.closeTo(0.89),
    bbox: { x: 3, y: 11, width: 2, height: 4 },
  });
});

test('vin.read takes the more confident of two readings of one character', async () => {
  const [first, ...others] = seen(VIN) as [Seen, ...Seen[]];
  const { vin } = await run([first, { ...first, label: '7', score: 0.5 }, ...others]);
  expect(vin?.text).toBe(VIN);
});

test.each([VIN.slice(1), `${VIN}1`, ''])('vin.read finds no VIN in "%s"', async (text) => {
  const { vin, quality_issues } = await run(seen(text));
  expect(vin).toBeNull();
  expect(quality_issues?.map(({ reason }) => reason)).toContain('no_vin');
});

test('vin.read reads a VIN with a text-line model, with character locations and check digit', async () => {
  // 18 characters in 37 steps of a line 37 pixels wide: their centres are 1.5, 3.5, … from its left end.
  const reader = readerSaying([spelt(`*${VIN}`)]);
  const model = modelSeeing([lineAt(10, 20, 37, 6)], reader);
  const { vin } = (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Result;
  expect(vin).toMatchObject({
    text: VIN,
    confidence: expect.closeTo(0.9),
    location: null,
    bbox: { x: 12.5, y: 20, width: 34, height: 6 },
    quad: [
      { x: 12.5, y: 20 },
      { x: 46.5, y: 20 },
      { x: 46.5, y: 26 },
      { x: 12.5, y: 26 },
    ],
    check_digit: { found: 'X', expected: 'X', valid: true },
  });
  expect(vin?.characters[0]).toEqual({
    character: '1',
    confidence: expect.closeTo(0.9),
    bbox: { x: 12.5, y: 20, width: 2, height: 6 },
  });
});

test('vin.read returns null for text without a VIN', async () => {
  const model = modelSeeing([lineAt(10, 20, 37, 6)], readerSaying([spelt('TYPE: PASSENGER CAR')]));
  const result = (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Result;
  expect(result.vin).toBeNull();
  expect(result.quality_issues?.map(({ reason }) => reason)).toContain('no_vin');
  expect(check('vin.read', result)).toBeNull();
});

test('vin.read reads a picture without a VIN once more from behind, and reports where it is in the picture', async () => {
  // An empty line is read in both directions.
  const reader = readerSaying([[], [], spelt(`*${VIN}`)]);
  const model = modelSeeing([lineAt(10, 20, 37, 6)], reader);
  const { vin } = (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Result;
  expect(vin).toMatchObject({
    text: VIN,
    bbox: { x: 64 - 46.5, y: 20, width: 34, height: 6 },
    quad: [
      { x: 64 - 12.5, y: 20 },
      { x: 64 - 46.5, y: 20 },
      { x: 64 - 46.5, y: 26 },
      { x: 64 - 12.5, y: 26 },
    ],
  });
  expect(vin?.characters[0]?.bbox).toEqual({ x: 64 - 14.5, y: 20, width: 2, height: 6 });
});

test('vin.read reads the VIN from a code, and compares it with the print', async () => {
  const code = await coded('QRCode', `https://example.com/?vin=${VIN}`);
  const silent = modelSeeing([], readerSaying([]));
  const alone = (await pipeline.create(silent)({ pictures: sent(code), parameters: {} })) as Result;
  expect(alone.vin).toMatchObject({ text: VIN, confidence: 0.99, check_digit: { valid: true } });
  const printing = modelSeeing([lineAt(10, 20, 37, 6)], readerSaying([spelt(`*${VIN.replace('8', 'B')}`, 0.7)]));
  const both = (await pipeline.create(printing)({ pictures: sent(code), parameters: {} })) as Result;
  expect(both.vin).toMatchObject({ text: VIN, confidence: 0.99 });
  for (const found of [alone, both]) expect(check('vin.read', found)).toBeNull();
});

test('vin.read searches a large picture for small codes only where print leaves the VIN open', async () => {
  const code = await coded('DataMatrix', VIN, 2);
  const large = { width: 4600, height: 3400, pixels: new Uint8Array(4600 * 3400 * 3).fill(0xd0) };
  for (let row = 0; row < code.height; row += 1) {
    const from = 3 * row * code.width;
    large.pixels.set(code.pixels.subarray(from, from + 3 * code.width), 3 * ((2000 + row) * large.width + 3000));
  }
  const read = async (probability: number) => {
    const model = modelSeeing([lineAt(10, 20, 37, 6)], readerSaying([spelt(`*${VIN}`, probability)]));
    return (await pipeline.create(model)({ pictures: sent(large), parameters: {} })) as Result;
  };
  expect((await read(0.95)).vin).toMatchObject({ text: VIN, confidence: expect.closeTo(0.95) });
  expect((await read(0.7)).vin).toMatchObject({ text: VIN, confidence: 0.999 });
});
