/** The pipeline with networks of known outputs. */
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/vehicle.pose/pipeline.ts';
import { partCells } from '../../inference/support/part-cells.ts';
import { logits, modelSaying, picture, sent } from '../../inference/support/saying-model.ts';

const viewOf = (probability: number) => ({
  labels: ['front', 'right', null],
  decoder: { name: 'softmax-classification', output: 'logits', score: 0.6 },
  says: { logits: logits(3, { index: 1, probability }, { index: 2, probability: 0.5 }) },
});

const run = (view: ReturnType<typeof viewOf>, parameters = {}) =>
  pipeline.create(modelSaying({ view }))({ pictures: sent(picture), parameters });

test('vehicle.pose returns the most likely view and compares it with the expected one', async () => {
  expect(await run(viewOf(0.999), { expected_view: 'front' })).toEqual({
    view: { value: 'right', confidence: expect.closeTo(0.999) },
    camera: null,
    vehicle: null,
    framing: null,
    quality_issues: [],
    matches_expected_view: false,
  });
});

test('vehicle.pose returns no view if a rejected class is more likely', async () => {
  expect(await run(viewOf(0.01))).toMatchObject({ view: null, matches_expected_view: null });
});

/** The left side of a car in rows 3 and 4, its front on the left. */
const parts = {
  front_bumper: [
    [1, 3],
    [1, 4],
  ],
  'front_door.left': [
    [3, 3],
    [3, 4],
  ],
} as const;

const cells = [1, 2, 3, 4, 5].flatMap((x) => [2, 3, 4].map((y): [number, number] => [x, y]));
const see = (vehicle: readonly (readonly [number, number])[], heads: Parameters<typeof modelSaying>[0] = {}) => {
  const networks = { detector: partCells(parts), vehicle: { ...partCells({ car: vehicle }) }, ...heads };
  return pipeline.create(modelSaying(networks, {}, 'vehicle-parts'))({ pictures: sent(picture), parameters: {} });
};

test('a model for vehicles and their parts tells view, place and framing', async () => {
  expect(await see(cells)).toMatchObject({
    view: { value: 'front_left', confidence: expect.closeTo(0.92, 1) },
    camera: null,
    vehicle: { confidence: expect.closeTo(1, 1), bbox: { x: expect.closeTo(6, -1), width: expect.closeTo(44, -1) } },
    framing: { value: 'well_framed', cropped_edges: [] },
  });
});

test('without a vehicle there is no view, whatever parts are found', async () => {
  expect(await see([])).toMatchObject({ view: null, vehicle: null, framing: null });
});

const head = (value: string, probability: number) => ({
  view: {
    labels: [value, null],
    decoder: { name: 'softmax-classification', output: 'logits', score: 0.6 },
    says: { logits: logits(2, { index: 0, probability }, { index: 1, probability: 0.5 }) },
  },
});

test('a head of a model for vehicles and their parts decides on the view, and the parts where it is not sure', async () => {
  expect(await see(cells, head('front', 0.999))).toMatchObject({
    view: { value: 'front', confidence: expect.closeTo(0.999) },
  });
  expect(await see(cells, head('front', 0.01))).toMatchObject({ view: { value: 'front_left' } });
});

test.each(['rear', 'rear_left', 'right', 'front_right'])(
  'a head that says %s of a vehicle whose parts show its front and left side is not believed',
  async (value) => {
    expect(await see(cells, head(value, 0.999))).toMatchObject({ view: null });
  },
);

test('a head tells no compass view of a picture without a vehicle', async () => {
  expect(await see([], head('front', 0.999))).toMatchObject({ view: null });
});
