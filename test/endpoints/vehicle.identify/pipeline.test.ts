/** What classes make of a make, candidates and a body. */
import { expect, test } from '@jest/globals';
import { pipeline } from '../../../src/endpoints/vehicle.identify/pipeline.ts';
import type { Result } from '../../../src/endpoints/vehicle.identify/result.ts';
import { logits, modelSaying, picture, sent } from '../../inference/saying-model.ts';

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

test('candidates come the likeliest first, and a make is as likely as its models together', async () => {
  const result = await run(model([0.3, 0.25, 0.4, 0.05]));
  expect(result.candidates.map(({ model: name }) => name)).toEqual(['Three', 'One', 'Two']);
  expect(result.candidates[1]).toEqual({ ...LABELS[0], confidence: expect.closeTo(0.3) as unknown });
  expect(result.make).toEqual({ value: 'Brand', confidence: expect.closeTo(0.55) as unknown });
});

test('what a classifier does not tell is null, or an empty list', async () => {
  expect(await run(model([0.3, 0.25, 0.4, 0.05]))).toMatchObject({
    body_type: null,
    color: null,
    badges: [],
    sightings: [],
    same_vehicle: null,
  });
});

test('a body type comes from a classifier of its own', async () => {
  const body_type = {
    labels: ['sedan', 'suv'],
    decoder: { name: 'softmax-classification', output: 'logits', score: 0.5 },
    says: { logits: logits(2, { index: 1, probability: 0.9 }) },
  };
  const { body_type: found } = await run(model([0.3, 0.25, 0.4, 0.05], { body_type }));
  expect(found).toMatchObject({ value: 'suv' });
});

test('pictures that show no vehicle most likely give null readings', async () => {
  const result = await run(model([0.1, 0.1, 0.2, 0.6]));
  expect([result.make, result.candidates]).toEqual([null, []]);
});

test('unlikely candidates, and those beyond what is asked for, are left out', async () => {
  expect((await run(model([0.9, 0.04, 0.04, 0.02]))).candidates).toHaveLength(1);
  expect((await run(model([0.3, 0.25, 0.4, 0.05]), { max_candidates: 2 })).candidates).toHaveLength(2);
});

test('several pictures are one reading', async () => {
  const { candidates } = await run(model([0.3, 0.25, 0.4, 0.05]), {}, [picture, picture]);
  expect(candidates[0]).toMatchObject({ model: 'Three', confidence: expect.closeTo(0.4) });
});

test('a class that is no vehicle is refused, and the field named', () => {
  const labels = [{ make: 'Brand' }, ...LABELS.slice(1)];
  expect(() => pipeline.create(model([0.3, 0.25, 0.4, 0.05], {}, labels))).toThrow(/files\.identity\.labels\.0/);
});

test('of many pictures one is decoded at a time, when the one before has been seen', async () => {
  const happened: string[] = [];
  const made = model([0.3, 0.25, 0.4, 0.05]);
  const noting =
    <Asked extends unknown[], Answer>(what: string, work: (...asked: Asked) => Answer) =>
    (...asked: Asked): Answer => {
      happened.push(what);
      return work(...asked);
    };
  const seeing = { ...made, run: noting('seen', (...asked: Parameters<typeof made.run>) => made.run(...asked)) };
  const decode = noting('decoded', async () => picture);
  const pictures = Array.from({ length: 3 }, () => ({ format: 'jpg' as const, decode }));
  await pipeline.create(seeing)({ pictures, parameters: {} });
  expect(happened).toEqual(['decoded', 'seen', 'decoded', 'seen', 'decoded', 'seen']);
});
