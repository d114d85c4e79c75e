/** What becomes a VIN: characters that a network finds, or lines of print that two networks find and read. */
import { expect, test } from '@jest/globals';
import { pipeline } from '../../../src/endpoints/vin.read/pipeline.ts';
import type { Result } from '../../../src/endpoints/vin.read/result.ts';
import { lineAt, modelSeeing, readerSaying, spelt } from '../../inference/print-saying.ts';
import { detectorSeeing, modelSaying, picture, type Seen, sent } from '../../inference/saying-model.ts';

const LABELS = Array.from('0123456789ABCDEFGHJKLMNPRSTUVWXYZ');
const VIN = '1M8GDM9AXKP042788';

/** Each character three pixels further right, and a little further down. */
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

test('seventeen characters are a VIN, read from left to right, with its check digit', async () => {
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

test('of two readings of one character the surer counts', async () => {
  const [first, ...others] = seen(VIN) as [Seen, ...Seen[]];
  const { vin } = await run([first, { ...first, label: '7', score: 0.5 }, ...others]);
  expect(vin?.text).toBe(VIN);
});

test.each([VIN.slice(1), `${VIN}1`, ''])('"%s" is no VIN', async (text) => {
  expect(await run(seen(text))).toEqual({ vin: null });
});

test('a model of lines of print gives the number with the places of its characters, and its check digit', async () => {
  // 18 characters, of 37 steps in a line 37 pixels wide: their middles are 1.5, 3.5, … from its left end.
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

test('print without a VIN gives none', async () => {
  const model = modelSeeing([lineAt(10, 20, 37, 6)], readerSaying([spelt('TYPE: PASSENGER CAR')]));
  expect(await pipeline.create(model)({ pictures: sent(picture), parameters: {} })).toEqual({ vin: null });
});
