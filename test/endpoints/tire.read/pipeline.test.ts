/** The pipeline with a text recogniser of known outputs. */
import { expect, test } from 'vitest';
import { tireRead } from '../../../src/endpoints/tire.read/contract.ts';
import { pipeline } from '../../../src/endpoints/tire.read/pipeline.ts';
import type { Result } from '../../../src/endpoints/tire.read/result.ts';
import { createSchemaCheck } from '../../../src/inference/models/schema-errors.ts';
import { lineAt, modelSeeing, readerSaying, type Said, spelt } from '../../inference/support/print-saying.ts';
import { logits, modelSaying, picture, sent } from '../../inference/support/saying-model.ts';

/** Lines below one another, in reading order. */
async function run(lines: readonly (string | readonly Said[])[], parameters = {}): Promise<Result> {
  const said = lines.map((line) => (typeof line === 'string' ? spelt(line) : line));
  // The larger is read first.
  const corners = said.map((_, index) => lineAt(2, 2 + 6 * index, 60 - index, 4));
  const result = await pipeline.create(modelSeeing(corners, readerSaying(said)))({
    pictures: sent(picture),
    parameters,
  });
  const check = createSchemaCheck(tireRead.result);
  expect(check.isValid(result) ? '' : check.problems()).toBe('');
  return result as Result;
}

test('tire.read reads a sidewall with the location of each field', async () => {
  const result = await run(['MICHELIN', 'P205/55R16 91V M+S', 'DOT 7V4K HR2X 2319', 'RADIAL XL'], {
    position: 'front_left',
  });
  expect(result).toMatchObject({
    position: 'front_left',
    size: {
      text: 'P205/55 R16',
      service: 'passenger',
      width_mm: 205,
      aspect_ratio: 55,
      construction: 'radial',
      rim_inches: 16,
      confidence: expect.closeTo(0.9),
    },
    load_index: { value: 91, dual_value: null, maximum_load_kg: 615 },
    speed_index: { value: 'V', maximum_speed_kmh: 240 },
    dot: { text: 'DOT 7V4K HR2X 2319', plant_code: '7V', size_code: '4K', option_code: 'HR2X', week: 23, year: 2019 },
    brand: { value: 'MICHELIN' },
    model: null,
    season: null,
    marks: [{ mark: 'mud_and_snow' }, { mark: 'extra_load' }],
  });
  expect(result.size?.characters.map(({ character }) => character).join('')).toBe('P205/55R16');
  // 18 characters in 37 steps over 59 pixels from x = 2: the first reaches from step 0.5 to 2.5.
  const step = 59 / 37;
  expect(result.size?.bbox).toEqual({
    x: expect.closeTo(2 + 0.5 * step, 1),
    y: 8,
    width: expect.closeTo(20 * step, 1),
    height: 4,
  });
  expect(result.load_index?.bbox.x).toBeCloseTo(2 + 22.5 * step, 1);
  expect(result.speed_index?.bbox.x).toBeCloseTo(2 + 26.5 * step, 1);
});

test('tire.read returns nulls and no marks for an unreadable tire', async () => {
  const nothing = { size: null, load_index: null, speed_index: null, dot: null, brand: null, season: null, marks: [] };
  const unread = await run([]);
  expect(unread).toMatchObject({ position: null, ...nothing });
  expect(unread.quality_issues.map(({ reason }) => reason)).toContain('no_tire');
  expect(await run(['MAX LOAD 615 KG', '91V'])).toMatchObject(nothing);
});

test('tire.read reads load index and speed symbol from a row of their own', async () => {
  expect(await run(['205/55R16', '(95Y) XL'])).toMatchObject({
    load_index: { value: 95, maximum_load_kg: 690 },
    speed_index: { value: '(Y)', maximum_speed_kmh: null },
    marks: [{ mark: 'extra_load' }],
  });
});

test('tire.read reads ZR without a speed symbol as the speed index, and RF as run-flat', async () => {
  expect(await run(['225/45ZR17'])).toMatchObject({
    load_index: null,
    speed_index: { value: 'ZR', maximum_speed_kmh: null },
  });
  expect(await run(['225/45RF17 91W'])).toMatchObject({ speed_index: { value: 'W' }, marks: [{ mark: 'run_flat' }] });
});

test('tire.read reads a stroke as the slash only if the network considered it, at its probability', async () => {
  const said = (others: Record<string, number>) =>
    spelt('205155R16').map((each, place) => (place === 3 ? { character: '1', probability: 0.8, others } : each));
  expect((await run([said({ '/': 0.15 })])).size).toMatchObject({
    text: '205/55 R16',
    confidence: expect.closeTo(0.15),
  });
  expect((await run([said({ I: 0.15 })])).size).toBeNull();
});

test('tire.read reads letters among the digits of a size as the digits that the network considered', async () => {
  const said = (others: Record<string, number>) =>
    spelt('2O5/55R16 91V').map((each, place) => (place === 1 ? { character: 'O', probability: 0.7, others } : each));
  expect((await run([said({ '0': 0.25 })])).size).toMatchObject({
    text: '205/55 R16',
    confidence: expect.closeTo(0.25),
  });
  expect((await run([said({ Q: 0.25 })])).size).toBeNull();
});

test('tire.read takes the digit that tires are made with, of two that the network considered', async () => {
  // Tires of 245/45 R18 bear 96 and 100, none bears 36; those of 295/65 R10 do not exist.
  const load = spelt('245/45R18 36W').map((each, place) =>
    place === 10 ? { character: '3', probability: 0.6, others: { '9': 0.35 } } : each,
  );
  expect((await run([load])).load_index).toMatchObject({ value: 96, confidence: expect.closeTo(0.35) });
  const rim = spelt('295/65R10').map((each, place) =>
    place === 8 ? { character: '0', probability: 0.6, others: { '8': 0.3 } } : each,
  );
  expect((await run([rim])).size).toMatchObject({ text: '295/65 R18', confidence: expect.closeTo(0.3) });
});

test('tire.read doubts what tires are not made in, if the network considered nothing else', async () => {
  expect((await run(['295/65R10'])).size).toMatchObject({ text: '295/65 R10', confidence: 0.4 });
  const { size, load_index } = await run(['205/55R16 61V']);
  expect(size?.confidence).toBeCloseTo(0.9);
  expect(load_index).toMatchObject({ value: 61, confidence: 0.4 });
});

test('tire.read prefers a DOT code with its date to one that may have lost it', async () => {
  const { dot } = await run([spelt('DOT 7V4K HR2X', 0.99), spelt('DOT 7V4K HR2X 2319', 0.8)]);
  expect(dot?.text).toBe('DOT 7V4K HR2X 2319');
});

test('tire.read reads a flotation size, in inches', async () => {
  expect((await run(['31X10.50R15LT 109Q'])).size).toMatchObject({
    text: '31x10.50 R15LT',
    service: 'light_truck',
    width_mm: 267,
    aspect_ratio: null,
    rim_inches: 15,
  });
});

test('tire.read takes the more confident of two sizes', async () => {
  const { size } = await run([spelt('205/55R16', 0.8), spelt('225/45R17', 0.95)]);
  expect(size?.text).toBe('225/45 R17');
});

test('tire.read replaces invalid DOT symbols by the most likely valid candidate, at its probability', async () => {
  const said = spelt('DOT 7V4K 2319').map((each, place) =>
    place === 1
      ? { character: '0', probability: 0.7, others: { O: 0.25 } }
      : place === 5
        ? { character: 'S', probability: 0.8, others: { '5': 0.1, Y: 0.01 } }
        : each,
  );
  const { dot } = await run([said]);
  expect(dot).toMatchObject({ text: 'DOT 754K 2319', plant_code: '75', confidence: expect.closeTo(0.1) });
  expect(dot?.characters[1]).toEqual({ character: 'O', confidence: expect.closeTo(0.25) });
});

test('tire.read rejects a code whose DOT letters the network did not consider', async () => {
  const said = spelt('DOT 7V4K 2319').map((each, place) => (place === 1 ? { character: '0', probability: 0.9 } : each));
  expect((await run([said])).dot).toBeNull();
});

test('tire.read omits a DOT code with more than two invalid symbols or another length', async () => {
  const mended = { character: 'S', probability: 0.8, others: { '5': 0.1 } };
  const said = spelt('DOT 7V4K 2319').map((each, place) => (place >= 4 && place <= 6 ? mended : each));
  expect((await run([said])).dot).toBeNull();
  expect((await run(['DOT 7V4'])).dot).toBeNull();
});

test('tire.read omits a DOT code with a misread date instead of returning it undated', async () => {
  expect((await run(['DOT B6B 13YUML IB24'])).dot).toBeNull();
  expect((await run(['DOT B6B 13YUML TUBELESS'])).dot).toMatchObject({
    text: 'DOT B6B 13YUML',
    // The date may be on the other side of the tire, or may have been missed.
    confidence: 0.5,
    week: null,
    year: null,
  });
});

test('tire.read excludes text after a DOT code, and reads no marks from its symbols', async () => {
  const { dot, marks } = await run(['DOT 7V4K XL 2319 E4', 'XL']);
  expect(dot?.text).toBe('DOT 7V4K XL 2319');
  expect(marks).toHaveLength(1);
});

test('tire.read returns a repeated mark once, most confident first', async () => {
  const { marks } = await run([spelt('TUBELESS XL', 0.8), spelt('XL', 0.95)]);
  expect(marks.map(({ mark, confidence }) => [mark, Math.round(confidence * 100)])).toEqual([
    ['extra_load', 95],
    ['tubeless', 80],
  ]);
});

test('tire.read reads a season written as a word', async () => {
  expect((await run(['ALL SEASON'])).season).toMatchObject({ value: 'all_season' });
});

test('tire.read adds the issues of a model that classifies quality', async () => {
  const seeing = modelSeeing([lineAt(2, 2, 60, 4)], readerSaying([spelt('205/55R16')]));
  const quality = {
    labels: ['blurred', null],
    decoder: { name: 'sigmoid-classification', output: 'scores', score: 0.5 },
    says: { scores: logits(2, { index: 0, probability: 0.8 }) },
  };
  const judging = modelSaying({ quality });
  const model = {
    ...seeing,
    manifest: { ...seeing.manifest, files: { ...seeing.manifest.files, ...judging.manifest.files } },
    run: (file: string, inputs: Parameters<typeof seeing.run>[1]) =>
      (file === 'quality' ? judging : seeing).run(file, inputs),
  };
  const { quality_issues } = (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Result;
  expect(quality_issues).toContainEqual({ reason: 'blurred', confidence: expect.closeTo(0.8) });
});
