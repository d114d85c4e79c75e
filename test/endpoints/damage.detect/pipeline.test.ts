/** The pipeline with a segmentation network of known outputs. */
import { describe, expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/damage.detect/pipeline.ts';
import type { Result } from '../../../src/endpoints/damage.detect/result.ts';
import { cellsWithin, damageModel } from '../../inference/support/damage-models.ts';
import { detectorSeeing, logits, modelSaying, picture, sent } from '../../inference/support/saying-model.ts';

/** Logits [1, 3, 8, 8]: background, but for two cells by two of dent and one of rust. */
const scene = new Float32Array(3 * 64);
scene.fill(5, 0, 64);
for (const [classIndex, x, y] of [
  [1, 1, 1],
  [1, 2, 1],
  [1, 1, 2],
  [1, 2, 2],
  [2, 6, 6],
] as const) {
  scene[classIndex * 64 + y * 8 + x] = 20;
}
const detector = {
  labels: [null, 'dent', 'rust'],
  decoder: { name: 'semantic-segmentation', output: 'logits', score: 0.5, minimumPixels: 30 },
  says: { logits: { shape: [1, 3, 8, 8], data: scene } },
};

const run = async (model: ReturnType<typeof modelSaying>, parameters = {}) =>
  (await pipeline.create(model)({ pictures: sent(picture), parameters })) as Result;

test('damage.detect returns each region as a damage with its outline and null for unknown fields', async () => {
  const { damages, ...rest } = await run(modelSaying({ detector }));
  expect(rest).toEqual({ view: null, parts_seen: [], quality_issues: [] });
  expect(damages.map(({ type }) => type).toSorted()).toEqual(['dent', 'rust']);
  const dent = damages.find(({ type }) => type === 'dent');
  expect(dent).toMatchObject({ part: null, side: null, size: null });
  // Cells 1 and 2 of 8 pixels, plus three quarters of the distance to the centre of the next cell.
  expect(dent?.bbox).toEqual({ x: 6, y: 6, width: 20, height: 20 });
  expect(dent?.polygon.length).toBeGreaterThanOrEqual(4);
  for (const { x, y } of dent?.polygon ?? []) {
    expect(Math.min(x, y)).toBeGreaterThanOrEqual(6);
    expect(Math.max(x, y)).toBeLessThanOrEqual(26);
  }
});

test('damage.detect returns only the requested damage types', async () => {
  const { damages } = await run(modelSaying({ detector }), { damage_types: ['rust'] });
  expect(damages.map(({ type }) => type)).toEqual(['rust']);
});

test('damage.detect returns the view if the model classifies views', async () => {
  const view = {
    labels: ['front', 'left'],
    decoder: { name: 'softmax-classification', output: 'logits', score: 0.5 },
    says: { logits: logits(2, { index: 1, probability: 0.9 }) },
  };
  expect((await run(modelSaying({ detector, view }))).view).toEqual({ value: 'left', confidence: expect.closeTo(1) });
});

test('damage.detect refuses a network without outlines', () => {
  const boxes = detectorSeeing(['dent'], []);
  expect(() => pipeline.create(modelSaying({ detector: boxes }))).toThrow(
    'files.detector.decoder.name must be one of yolo-end-to-end-segmentation, yolo-segmentation, semantic-segmentation',
  );
});

describe('with a model for vehicles and their parts', () => {
  const car = {
    vehicle: cellsWithin([1, 1], [6, 6]),
    'front_door.left': cellsWithin([1, 1], [3, 4]),
    'front_wheel.left': cellsWithin([4, 4], [5, 5]),
  };

  test('damage.detect names the part and the side of a damage, and measures it by the wheel', async () => {
    const { damages, parts_seen, view } = await run(damageModel({ scratch: cellsWithin([1, 2], [3, 2]) }, car));
    expect(view?.value).toBe('left');
    expect(parts_seen.map(({ part, side }) => `${part}.${side}`).toSorted()).toEqual([
      'front_door.left',
      'front_wheel.left',
    ]);
    const [damage] = damages;
    expect(damage).toMatchObject({ type: 'scratch', part: 'front_door', side: 'left' });
    // A region of two by two cells is 20 pixels wide, as above, and a tire 660 mm: 33 mm a pixel.
    const { length_mm: length, width_mm: width } = damage?.size ?? {};
    expect(length).toBeCloseTo((damage?.bbox.width ?? 0) * 33, -2);
    expect(width).toBeCloseTo((damage?.bbox.height ?? 0) * 33, -2);
    expect(damage?.size?.part_area_fraction).toBeGreaterThan(0.2);
    expect(damage?.size?.part_area_fraction).toBeLessThan(0.45);
  });

  test('damage.detect states no millimetres without a wheel or a plate', async () => {
    const { 'front_wheel.left': _, ...others } = car;
    const { damages } = await run(damageModel({ dent: cellsWithin([1, 2], [2, 3]) }, others));
    expect(damages[0]?.size).toMatchObject({ length_mm: null, width_mm: null });
  });

  test('damage.detect states no part for a damage on no known part, and no size at all without a wheel', async () => {
    const { damages } = await run(
      damageModel({ dent: cellsWithin([5, 1], [6, 2]) }, { vehicle: car.vehicle, hood: [[1, 6]] }),
    );
    expect(damages).toMatchObject([{ part: null, side: null, size: null }]);
  });

  test('damage.detect states damages without part, side, view and size where no vehicle is sure', async () => {
    const { damages, ...rest } = await run(damageModel({ scratch: cellsWithin([1, 2], [3, 2]) }, car, 0.999));
    expect(rest).toEqual({ view: null, parts_seen: [], quality_issues: [] });
    expect(damages).toMatchObject([{ type: 'scratch', part: null, side: null, size: null }]);
  });

  test('damage.detect leaves out what does not lie on the vehicle', async () => {
    const narrow = { vehicle: cellsWithin([0, 1], [4, 6]), hood: cellsWithin([1, 1], [3, 3]) };
    const found = async (column: number) =>
      (await run(damageModel({ scratch: cellsWithin([column, 1], [column, 6]) }, narrow))).damages.length;
    expect(await found(7)).toBe(0);
    expect(await found(2)).toBe(1);
  });

  test('damage.detect finds nothing in a picture without a vehicle', async () => {
    expect(await run(damageModel({ scratch: cellsWithin([1, 2], [3, 2]) }, { hood: [] }))).toEqual({
      view: null,
      parts_seen: [],
      damages: [],
      quality_issues: [],
    });
  });

  test('damage.detect joins touching types into one damage of the type that covers more', async () => {
    const { damages } = await run(
      damageModel({ scratch: cellsWithin([1, 2], [3, 2]), dent: cellsWithin([1, 3], [1, 3]) }, car),
    );
    expect(damages.map(({ type }) => type)).toEqual(['scratch']);
  });
});
