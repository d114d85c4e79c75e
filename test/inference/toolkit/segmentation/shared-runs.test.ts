import { expect, test } from 'vitest';
import type { ModelInputs } from '../../../../src/inference/models/model.ts';
import { createDetector } from '../../../../src/inference/toolkit/detection/detector.ts';
import { withSharedRuns } from '../../../../src/inference/toolkit/segmentation/shared-runs.ts';
import { detectorSeeing, logits, modelSaying, picture } from '../../support/saying-model.ts';

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

test('inputs whose memory holds another picture by now run again', async () => {
  const { model, ran } = noting();
  const given = inputs(1);
  await model.run('view', given);
  given.images?.data.fill(2 as never);
  await model.run('paint', given);
  expect(ran).toEqual(['view', 'paint']);
});

test('detectors with padded inputs share the run of one picture, and never that of another', async () => {
  const seeing = (left: number) => {
    const network = detectorSeeing(['car'], [{ label: 'car', score: 0.9, box: [left, 10, 60, 60] }]);
    return modelSaying({ one: { ...network, resize: 'letterbox' }, two: { ...network, resize: 'letterbox' } });
  };
  const [dark, light] = [seeing(10), seeing(30)];
  const ran: string[] = [];
  const { one, two } = dark.manifest.files;
  if (!one || !two) throw new Error('there are no files');
  const model = withSharedRuns({
    ...dark,
    manifest: { ...dark.manifest, files: { one, two: { ...two, path: 'one.onnx' } } },
    run: async (file, given) => {
      ran.push(file);
      return await (given.images?.data[0] === 0 ? dark : light).run(file, given);
    },
  });
  const [detectOne, detectTwo] = [
    createDetector(model, ['car'], undefined, 'one'),
    createDetector(model, ['car'], undefined, 'two'),
  ];
  const white = { ...picture, pixels: new Uint8Array(picture.pixels.length).fill(255) };
  const found = [];
  for (const detect of [detectOne, detectTwo]) {
    for (const each of [picture, white]) found.push((await detect(each))[0]?.box.x0);
  }
  expect(found).toEqual([10, 30, 10, 30]);
  expect(ran).toEqual(['one', 'one', 'two', 'two']);
  await detectOne(white);
  expect(ran).toHaveLength(4);
});
