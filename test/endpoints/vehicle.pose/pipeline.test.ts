/** What a classifier of views makes of a capture. */
import { expect, test } from '@jest/globals';
import { pipeline } from '../../../src/endpoints/vehicle.pose/pipeline.ts';
import { logits, modelSaying, picture, sent } from '../../inference/saying-model.ts';

const viewOf = (probability: number) => ({
  labels: ['front', 'right', null],
  decoder: { name: 'softmax-classification', output: 'logits', score: 0.6 },
  says: { logits: logits(3, { index: 1, probability }, { index: 2, probability: 0.5 }) },
});

const run = (view: ReturnType<typeof viewOf>, parameters = {}) =>
  pipeline.create(modelSaying({ view }))({ pictures: sent(picture), parameters });

test('the likeliest view is told, and compared with the one that was asked for', async () => {
  expect(await run(viewOf(0.999), { expected_view: 'front' })).toEqual({
    view: { value: 'right', confidence: expect.closeTo(0.999) },
    camera: null,
    vehicle: null,
    framing: null,
    quality_issues: [],
    matches_expected_view: false,
  });
});

test('where a class to be passed over is likelier, there is no view', async () => {
  expect(await run(viewOf(0.01))).toMatchObject({ view: null, matches_expected_view: null });
});
