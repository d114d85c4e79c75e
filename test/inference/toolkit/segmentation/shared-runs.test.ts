import { expect, test } from '@jest/globals';
import type { ModelInputs } from '../../../../src/inference/models/model.ts';
import { withSharedRuns } from '../../../../src/inference/toolkit/segmentation/shared-runs.ts';
import { logits, modelSaying } from '../../support/saying-model.ts';

const decoder = { name: 'softmax-classification', output: 'logits', score: 0 };
const network = { labels: ['a', 'b'], decoder, says: { logits: logits(2, { index: 1, probability: 0.9 }) } };
const inputs = (value: number): ModelInputs => ({ images: { shape: [1, 2], data: Float32Array.of(0, value) } });

/** Files `view` and `paint` of one network, `other` of another; notes each run. */
function noting(fail: () => boolean = () => false) {
  const made = modelSaying({ view: network, paint: network, other: network });
  const files = made.manifest.files;
  const paths = { view: 'one.onnx', paint: 'one.onnx', other: 'other.onnx' } as const;
  const manifest = {
    ...made.manifest,
    files: Object.fromEntries(
      Object.entries(files).map(([name, file]) => [name, { ...file, path: paths[name as keyof typeof paths] }]),
    ),
  };
  const ran: string[] = [];
  const run: typeof made.run = async (file, given) => {
    ran.push(file);
    if (fail()) throw new Error('cancelled');
    return await made.run(file, given);
  };
  return { model: withSharedRuns({ ...made, manifest, run }), ran };
}

test('a network runs once for the files that read it', async () => {
  const { model, ran } = noting();
  await model.run('view', inputs(1));
  await model.run('paint', inputs(1));
  expect(ran).toEqual(['view']);
});

test('another picture, or another network, runs again', async () => {
  const { model, ran } = noting();
  await model.run('view', inputs(1));
  await model.run('paint', inputs(2));
  await model.run('other', inputs(2));
  expect(ran).toEqual(['view', 'paint', 'other']);
});

test('a run that fails is not kept', async () => {
  const failures = [true, false];
  const { model, ran } = noting(() => failures.shift() ?? false);
  await expect(model.run('view', inputs(1))).rejects.toThrow('cancelled');
  await model.run('paint', inputs(1));
  expect(ran).toEqual(['view', 'paint']);
});
