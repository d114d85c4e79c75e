/** The pipeline with networks of known outputs. */
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/engine.detect/pipeline.ts';
import { detectorSeeing, logits, modelSaying, picture, sent } from '../../inference/support/saying-model.ts';

const detector = detectorSeeing(
  ['battery', 'inverter', 'engine_bay'],
  [
    { label: 'engine_bay', score: 0.9, box: [0, 0, 60, 60] },
    { label: 'inverter', score: 0.7, box: [30, 10, 40, 20] },
    { label: 'battery', score: 0.4, box: [10, 10, 20, 20] },
  ],
);
const propulsion = (probability: number) => ({
  labels: ['combustion', 'hybrid', null],
  decoder: { name: 'softmax-classification', output: 'logits', score: 0.6 },
  says: { logits: logits(3, { index: 1, probability }) },
});

const run = (model: ReturnType<typeof modelSaying>, parameters = {}) =>
  pipeline.create(model)({ pictures: sent(picture), parameters });

test('engine.detect separates the engine bay from its parts and returns a null propulsion without a classifier', async () => {
  expect(await run(modelSaying({ detector }), { min_confidence: 0.5 })).toEqual({
    engine_bay: { confidence: expect.closeTo(0.9), bbox: { x: 0, y: 0, width: 60, height: 60 } },
    propulsion: null,
    parts: [{ part: 'inverter', confidence: expect.closeTo(0.7), bbox: { x: 30, y: 10, width: 10, height: 10 } }],
  });
});

test('engine.detect returns the propulsion of a confident classifier', async () => {
  expect(await run(modelSaying({ detector, propulsion: propulsion(0.99) }))).toMatchObject({
    propulsion: { value: 'hybrid', confidence: expect.closeTo(1) },
  });
  const unsure = { ...propulsion(0.99), says: { logits: { shape: [1, 3], data: new Float32Array(3) } } };
  expect(await run(modelSaying({ detector, propulsion: unsure }))).toMatchObject({ propulsion: null });
});
