/** The pipeline with a classifier of known outputs. */
import { expect, test } from '@jest/globals';
import { pipeline } from '../../../src/endpoints/vehicle.identify/pipeline.ts';
import type { Result } from '../../../src/endpoints/vehicle.identify/result.ts';
import { logits, modelSaying, picture, sent } from '../../inference/support/saying-model.ts';

const label = (make: string, model: string, generation: string | null = null) => ({
  make,
  model,
  generation,
  year_from: 2012,
  year_to: null,
});
const LABELS = [label('Brand', 'One', 'II'), label('Brand', 'Two'), label('Other', 'Three'), null];

function model(
  probabilities: number[],
  more: Parameters<typeof modelSaying>[0] = {},
  labels: readonly unknown[] = LABELS,
) {
  const data = Float32Array.from(probabilities, (probability) => Math.log(probability));
  const identity = {
    labels: labels as (object | null)[],
    decoder: { name: 'softmax-classification', output: 'logits', score: 0.05 },
    says: { logits: { shape: [1, probabilities.length], data } },
  };
  return modelSaying({ identity, ...more });
}

const run = async (made: ReturnType<typeof model>, parameters = {}, images = [picture]) =>
  (await pipeline.create(made)({ pictures: sent(...images), parameters })) as Result;

test('ranks candidates and sums the confidence of a make over its models', async () => {
  const result = await run(model([0.3, 0.25, 0.4, 0.05]));
  expect(result.candidates.map(({ model: name }) => name)).toEqual(['Three', 'One', 'Two']);
  expect(result.candidates[1]).toEqual({ ...LABELS[0], confidence: expect.closeTo(0.3) as unknown });
  expect(result.make).toEqual({ value: 'Brand', confidence: expect.closeTo(0.55) as unknown });
});

test('returns null or an empty list for what a classifier does not determine', async () => {
  expect(await run(model([0.3, 0.25, 0.4, 0.05]))).toMatchObject({
    body_type: null,
    color: null,
    badges: [],
    sightings: [],
    same_vehicle: null,
  });
});

test('takes the body type from a separate classifier', async () => {
  const body_type = {
    labels: ['sedan', 'suv'],
    decoder: { name: 'softmax-classification', output: 'logits', score: 0.5 },
    says: { logits: logits(2, { index: 1, probability: 0.9 }) },
  };
  const { body_type: found } = await run(model([0.3, 0.25, 0.4, 0.05], { body_type }));
  expect(found).toMatchObject({ value: 'suv' });
});

test('returns null readings if no vehicle is the most likely class', async () => {
  const result = await run(model([0.1, 0.1, 0.2, 0.6]));
  expect([result.make, result.candidates]).toEqual([null, []]);
});

test('omits unlikely candidates and those beyond max_candidates', async () => {
  expect((await run(model([0.9, 0.04, 0.04, 0.02]))).candidates).toHaveLength(1);
  expect((await run(model([0.3, 0.25, 0.4, 0.05]), { max_candidates: 2 })).candidates).toHaveLength(2);
});

test('averages several pictures into one reading', async () => {
  const { candidates } = await run(model([0.3, 0.25, 0.4, 0.05]), {}, [picture, picture]);
  expect(candidates[0]).toMatchObject({ model: 'Three', confidence: expect.closeTo(0.4) });
});

test('refuses an invalid class and names the field', () => {
  const labels = [{ make: 'Brand' }, ...LABELS.slice(1)];
  expect(() => pipeline.create(model([0.3, 0.25, 0.4, 0.05], {}, labels))).toThrow(/files\.identity\.labels\.0/);
});

test('decodes one picture at a time, after processing the previous one', async () => {
  const happened: string[] = [];
  const made = model([0.3, 0.25, 0.4, 0.05]);
  const noting =
    <Parameters extends unknown[], Returned>(what: string, work: (...parameters: Parameters) => Returned) =>
    (...parameters: Parameters): Returned => {
      happened.push(what);
      return work(...parameters);
    };
  const seeing = {
    ...made,
    run: noting('seen', (...requested: Parameters<typeof made.run>) => made.run(...requested)),
  };
  const decode = noting('decoded', async () => picture);
  const pictures = Array.from({ length: 3 }, () => ({ format: 'jpg' as const, decode }));
  await pipeline.create(seeing)({ pictures, parameters: {} });
  expect(happened).toEqual(['decoded', 'seen', 'decoded', 'seen', 'decoded', 'seen']);
});
