/** The pipeline with a classifier of known outputs. */
import { expect, test } from '@jest/globals';
import { pipeline } from '../../../src/endpoints/vehicle.pose/pipeline.ts';
import { logits, modelSaying, picture, sent } from '../../inference/support/saying-model.ts';

const viewOf = (probability: number) => ({
  labels: ['front', 'right', null],
  decoder: { name: 'softmax-classification', output: 'logits', score: 0.6 },
  says: { logits: logits(3, { index: 1, probability }, { index: 2, probability: 0.5 }) },
});

const run = (view: ReturnType<typeof viewOf>, parameters = {}) =>
  pipeline.create(modelSaying({ view }))({ pictures: sent(picture), parameters });

test('returns the most likely view and compares it with the expected one', async () => {
  expect(await run(viewOf(0.999), { expected_view: 'front' })).toEqual({
    view: { value: 'right', confidence: expect.closeTo(0.999) },
    camera: null,
    vehicle: null,
    framing: null,
    quality_issues: [],
    matches_expected_view: false,
  });
});

test('returns no view if a rejected class is more likely', async () => {
  expect(await run(viewOf(0.01))).toMatchObject({ view: null, matches_expected_view: null });
});
