/** The pipeline with networks of known outputs. */
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/vehicle.identify/pipeline.ts';
import type { Result } from '../../../src/endpoints/vehicle.identify/result.ts';
import { partCells } from '../../inference/support/part-cells.ts';
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

test('vehicle.identify ranks candidates and sums the confidence of a make over its models', async () => {
  const result = await run(model([0.3, 0.25, 0.4, 0.05]));
  expect(result.candidates.map(({ model: name }) => name)).toEqual(['Three', 'One', 'Two']);
  expect(result.candidates[1]).toEqual({ ...LABELS[0], confidence: expect.closeTo(0.3) as unknown });
  expect(result.make).toEqual({ value: 'Brand', confidence: expect.closeTo(0.55) as unknown });
});

test('vehicle.identify returns null or an empty list for what a classifier does not determine', async () => {
  expect(await run(model([0.3, 0.25, 0.4, 0.05]))).toMatchObject({
    body_type: null,
    color: null,
    badges: [],
    sightings: [],
    same_vehicle: null,
  });
});

test('vehicle.identify takes the body type from a separate classifier', async () => {
  const body_type = {
    labels: ['sedan', 'suv'],
    decoder: { name: 'softmax-classification', output: 'logits', score: 0.5 },
    says: { logits: logits(2, { index: 1, probability: 0.9 }) },
  };
  const { body_type: found } = await run(model([0.3, 0.25, 0.4, 0.05], { body_type }));
  expect(found).toMatchObject({ value: 'suv' });
});

test('vehicle.identify returns null readings if no vehicle is the most likely class', async () => {
  const result = await run(model([0.1, 0.1, 0.2, 0.6]));
  expect([result.make, result.candidates]).toEqual([null, []]);
});

test('vehicle.identify omits unlikely candidates and those beyond max_candidates', async () => {
  expect((await run(model([0.9, 0.04, 0.04, 0.02]))).candidates).toHaveLength(1);
  expect((await run(model([0.3, 0.25, 0.4, 0.05]), { max_candidates: 2 })).candidates).toHaveLength(2);
});

test('vehicle.identify averages several pictures into one reading', async () => {
  const { candidates } = await run(model([0.3, 0.25, 0.4, 0.05]), {}, [picture, picture]);
  expect(candidates[0]).toMatchObject({ model: 'Three', confidence: expect.closeTo(0.4) });
});

test('vehicle.identify refuses an invalid class and names the field', () => {
  const labels = [{ make: 'Brand' }, ...LABELS.slice(1)];
  expect(() => pipeline.create(model([0.3, 0.25, 0.4, 0.05], {}, labels))).toThrow(/files\.identity\.labels\.0/);
});

test('vehicle.identify decodes one picture at a time, after processing the previous one', async () => {
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

const hood = [1, 2, 3, 4].flatMap((x) => [1, 2, 3, 4].map((y): [number, number] => [x, y]));
const blue = { ...picture, pixels: Uint8Array.from(picture.pixels, (_, place) => [25, 60, 160][place % 3] ?? 0) };
const look = (vehicle: typeof hood, heads: Parameters<typeof modelSaying>[0] = {}) =>
  run(
    modelSaying({ detector: partCells({ hood }), vehicle: partCells({ car: vehicle }), ...heads }, {}, 'vehicle-parts'),
    {},
    [blue],
  );
const head = (labels: (string | null)[], index: number, probability: number) => ({
  labels,
  decoder: { name: 'softmax-classification', output: 'logits', score: 0.6 },
  says: { logits: logits(labels.length, { index, probability }, { index: 0, probability: 0.5 }) },
});

test('a model for vehicles and their parts tells colour and place, and no make', async () => {
  expect(await look(hood)).toMatchObject({
    make: null,
    candidates: [],
    color: { value: 'blue', hex: '#193ca0', finish: null, confidence: 1 },
    sightings: [{ image_index: 0, view: 'front' }],
  });
  expect(await look([])).toMatchObject({ color: null, sightings: [] });
});

test('a head of a model for vehicles and their parts tells the body type of a vehicle, if it is sure', async () => {
  const bodies = ['sedan', 'suv'];
  expect(await look(hood, { body_type: head(bodies, 1, 0.99) })).toMatchObject({
    body_type: { value: 'suv', confidence: expect.closeTo(0.99) },
  });
  expect(await look(hood, { body_type: head(bodies, 1, 0.55) })).toMatchObject({ body_type: null });
  expect(await look([], { body_type: head(bodies, 1, 0.99) })).toMatchObject({ body_type: null });
});

test('a head tells paint without a hue, and other paint is named by its hue', async () => {
  const shades = ['white', 'gray', null];
  expect(await look(hood, { paint: head(shades, 1, 0.99) })).toMatchObject({
    color: { value: 'gray', confidence: expect.closeTo(0.99) },
  });
  expect(await look(hood, { paint: head(shades, 2, 0.99) })).toMatchObject({
    color: { value: 'blue', hex: '#193ca0', confidence: expect.closeTo(0.99) },
  });
});
