/** Models whose networks say what a test tells them: for tests of pipelines. */

import { parseManifest } from '../../../src/inference/models/manifest.ts';
import type { Model } from '../../../src/inference/models/model.ts';
import type { FloatTensor } from '../../../src/inference/models/tensors.ts';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';
import type { Picture } from '../../../src/inference/toolkit/pipeline.ts';

interface Network {
  labels: readonly (string | null | object)[];
  decoder: Record<string, unknown>;
  /** Default: `stretch`. */
  resize?: 'letterbox';
  /** By the name of the output. */
  says: Record<string, FloatTensor>;
}

const SIDE = 64;
/** As large as the input of the networks, so that both have the same pixels. */
export const picture = { width: SIDE, height: SIDE, pixels: new Uint8Array(SIDE * SIDE * 3) };

/** As the pictures of a request, decoded already. */
export function sent(...images: RgbImage[]): Picture[] {
  return images.map((image) => ({ format: 'jpg', decode: async () => image }));
}

export function modelSaying(
  networks: Record<string, Network>,
  uses: Record<string, Model> = {},
  task = 'saying',
): Model {
  const images = {
    shape: [1, 3, SIDE, SIDE],
    layout: 'NCHW',
    dtype: 'float32',
    colour: 'RGB',
    range: [0, 1],
    mean: [0, 0, 0],
    std: [1, 1, 1],
  };
  const files = Object.entries(networks).map(([name, { labels, decoder, says, resize = 'stretch' }]) => {
    const outputs = Object.fromEntries(Object.entries(says).map(([output, { shape }]) => [output, { shape }]));
    const inputs = { images: decoder.name === 'image-to-image' ? images : { ...images, resize, pad: 0 } };
    return [name, { path: `${name}.onnx`, sha256: '0'.repeat(64), inputs, outputs, labels, decoder }];
  });
  const manifest = parseManifest(
    JSON.stringify({
      model: 'saying',
      release: '2026-01-01',
      task,
      description: 'Says what it is told.',
      license: 'Apache-2.0',
      files: Object.fromEntries(files),
      warmUp: {},
    }),
  );
  const said = (file: string, output: string): FloatTensor => {
    const tensor = networks[file]?.says[output];
    if (!tensor) throw new Error(`${file} says nothing as ${output}`);
    return tensor;
  };
  return {
    manifest,
    uses,
    run: async (file) => ({
      shapeOf: (name) => said(file, name).shape,
      floats: (name) => said(file, name),
      integers: (name) => Array.from(said(file, name).data),
    }),
  };
}

/** Rows of an output [1, rows, columns]. */
export function rows(...values: number[][]): FloatTensor {
  return { shape: [1, values.length, values[0]?.length ?? 0], data: Float32Array.from(values.flat()) };
}

/** Logits [1, classes]: the one at `index` of this probability, the others hopeless. */
export function logits(classes: number, ...likely: { index: number; probability: number }[]): FloatTensor {
  const data = new Float32Array(classes).fill(-20);
  for (const { index, probability } of likely) data[index] = Math.log(probability / (1 - probability));
  return { shape: [1, classes], data };
}

export interface Seen {
  label: string;
  score: number;
  box: [number, number, number, number];
}

/** A detector that sees these boxes of pixels, as an end-to-end YOLO says it. */
export function detectorSeeing(labels: readonly string[], seen: readonly Seen[]): Network {
  const found = seen.map(({ label, score, box }) => [...box, score, labels.indexOf(label)]);
  const output = rows(...(found.length > 0 ? found : [[0, 0, 0, 0, 0, 0]]));
  return { labels, decoder: { name: 'yolo-end-to-end', output: 'output0', score: 0.2 }, says: { output0: output } };
}
