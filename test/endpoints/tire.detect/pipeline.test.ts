/** The pipeline with networks of known outputs. */
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/tire.detect/pipeline.ts';
import type { Result } from '../../../src/endpoints/tire.detect/result.ts';
import { EVERY_CELL, partCells } from '../../inference/support/part-cells.ts';
import { detectorSeeing, logits, modelSaying, picture, type Seen, sent } from '../../inference/support/saying-model.ts';

const LABELS = ['tire', 'rim.alloy', 'rim.steel', 'sidewall_damage.cut', 'rim_damage.scuff'];
const TIRE: Seen = { label: 'tire', score: 0.9, box: [0, 0, 30, 30] };
const RIM: Seen = { label: 'rim.alloy', score: 0.8, box: [8, 8, 22, 22] };

async function run(seen: Seen[], parameters = {}): Promise<Result> {
  const model = modelSaying({ detector: detectorSeeing(LABELS, seen) });
  return (await pipeline.create(model)({ pictures: sent(picture), parameters })) as Result;
}

test('tire.detect matches a rim to the tire around it and leaves a single rim bare', async () => {
  const bare: Seen = { label: 'rim.steel', score: 0.7, box: [40, 40, 60, 60] };
  const { tires, wheels } = await run([TIRE, RIM, bare]);
  expect(tires).toMatchObject([{ id: 'tire_1', confidence: expect.closeTo(0.9), position: null, tread: null }]);
  expect(wheels).toEqual([
    {
      id: 'wheel_1',
      tire_id: 'tire_1',
      confidence: expect.closeTo(0.8),
      bbox: { x: 0, y: 0, width: 30, height: 30 },
      rim: {
        type: { value: 'alloy', confidence: expect.closeTo(0.8) },
        bbox: { x: 8, y: 8, width: 14, height: 14 },
        damages: [],
      },
    },
    expect.objectContaining({ id: 'wheel_2', tire_id: null, bbox: { x: 40, y: 40, width: 20, height: 20 } }),
  ]);
});

test('tire.detect assigns a damage to the tire or rim under it and omits others', async () => {
  const cut: Seen = { label: 'sidewall_damage.cut', score: 0.6, box: [2, 2, 4, 4] };
  const scuff: Seen = { label: 'rim_damage.scuff', score: 0.5, box: [10, 10, 12, 12] };
  const elsewhere: Seen = { label: 'sidewall_damage.cut', score: 0.6, box: [50, 50, 54, 54] };
  const { tires, wheels } = await run([TIRE, RIM, cut, scuff, elsewhere]);
  expect(tires[0]?.sidewall_damages).toEqual([
    { type: 'cut', confidence: expect.closeTo(0.6), bbox: { x: 2, y: 2, width: 2, height: 2 } },
  ]);
  expect(wheels[0]?.rim.damages).toMatchObject([{ type: 'scuff' }]);
});

test('tire.detect matches a rim to the smaller of overlapping tires', async () => {
  const behind: Seen = { label: 'tire', score: 0.95, box: [0, 0, 60, 60] };
  const { tires, wheels } = await run([behind, TIRE, RIM]);
  expect(tires.map(({ bbox }) => bbox.width)).toEqual([60, 30]);
  expect(wheels[0]?.tire_id).toBe('tire_2');
});

test('tire.detect omits detections below min_confidence and clears the tire of their wheel', async () => {
  const { tires, wheels } = await run([{ ...TIRE, score: 0.5 }, RIM], { min_confidence: 0.6 });
  expect(tires).toEqual([]);
  expect(wheels).toMatchObject([{ tire_id: null }]);
});

test('tire.detect returns quality issues if the model classifies quality', async () => {
  const labels = ['blurred', 'too_dark', null];
  const model = modelSaying({
    detector: detectorSeeing(LABELS, []),
    quality: {
      labels,
      decoder: { name: 'sigmoid-classification', output: 'logits', score: 0.5 },
      says: {
        logits: logits(
          3,
          { index: 0, probability: 0.6 },
          { index: 1, probability: 0.8 },
          { index: 2, probability: 0.9 },
        ),
      },
    },
  });
  const result = (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Result;
  expect(result.quality_issues).toEqual([
    { reason: 'too_dark', confidence: expect.closeTo(0.8) },
    { reason: 'blurred', confidence: expect.closeTo(0.6) },
  ]);
});

test('a model for vehicles and their parts tells the position of each tire, and no rims', async () => {
  const detector = partCells({
    'front_wheel.left': [[1, 5]],
    'rear_wheel.left': [
      [5, 5],
      [5, 6],
    ],
    front_wheel: [[7, 7]],
    hood: [[3, 3]],
  });
  const model = modelSaying({ detector, vehicle: partCells({ car: EVERY_CELL }) }, {}, 'vehicle-parts');
  const { tires, wheels } = (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Result;
  expect(tires.map(({ position }) => position?.value ?? null)).toEqual(
    expect.arrayContaining(['front_left', 'rear_left', null]),
  );
  expect(tires.map(({ id }) => id)).toEqual(['tire_1', 'tire_2', 'tire_3']);
  expect(wheels).toEqual([]);
});
