/** The pipeline with a segmentation network of known outputs. */
import { expect, test } from '@jest/globals';
import { pipeline } from '../../../src/endpoints/damage.detect/pipeline.ts';
import type { Result } from '../../../src/endpoints/damage.detect/result.ts';
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

test('returns each region as a damage with its outline and null for unknown fields', async () => {
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

test('returns only the requested damage types', async () => {
  const { damages } = await run(modelSaying({ detector }), { damage_types: ['rust'] });
  expect(damages.map(({ type }) => type)).toEqual(['rust']);
});

test('returns the view if the model classifies views', async () => {
  const view = {
    labels: ['front', 'left'],
    decoder: { name: 'softmax-classification', output: 'logits', score: 0.5 },
    says: { logits: logits(2, { index: 1, probability: 0.9 }) },
  };
  expect((await run(modelSaying({ detector, view }))).view).toEqual({ value: 'left', confidence: expect.closeTo(1) });
});

test('refuses a network without outlines', () => {
  const boxes = detectorSeeing(['dent'], []);
  expect(() => pipeline.create(modelSaying({ detector: boxes }))).toThrow(
    'files.detector.decoder.name must be one of yolo-end-to-end-segmentation, yolo-segmentation, semantic-segmentation',
  );
});
