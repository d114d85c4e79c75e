/**
 * Mattes and pictures from pictures, compared with what rembg and Real-ESRGAN make of the outputs of U²-Net, RRDB, SwinIR and
 * NAFNet: see goldens/make_made_picture_goldens.py.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseManifest } from '../../../../src/inference/models/manifest.ts';
import type { Model } from '../../../../src/inference/models/model.ts';
import type { FloatTensor } from '../../../../src/inference/models/tensors.ts';
import { createPictureMaker } from '../../../../src/inference/toolkit/images/image-to-image.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import { createMatteMaker } from '../../../../src/inference/toolkit/segmentation/matting.ts';
import { smoothPicture } from '../../support/exported-models.ts';
import { type StoredTensor, tensor } from '../../support/golden-values.ts';
import { modelSaying } from '../../support/saying-model.ts';

interface MatteCase {
  name: string;
  width: number;
  height: number;
  values: 'logits' | 'probabilities';
  output: StoredTensor;
  mask: string;
}

interface TiledCase {
  name: string;
  width: number;
  height: number;
  /** Side of a tile. */
  tile: number;
  overlap: number;
  scale: number;
  /** The network's output pixels for each tile, from left to right. */
  tiles: string[];
  /** What is made of the whole. */
  pixels: string;
}

const goldens = JSON.parse(readFileSync(new URL('../../goldens/made-pictures.json', import.meta.url), 'utf8')) as {
  mattes: MatteCase[];
  tiled: TiledCase[];
};

function gaps(actual: ArrayLike<number>, base64: string): { mean: number; most: number } {
  const expected = Buffer.from(base64, 'base64');
  expect(actual.length).toBe(expected.length);
  const found = Array.from(actual, (level, place) => Math.abs(level - (expected[place] ?? -255)));
  return { mean: found.reduce((sum, gap) => sum + gap, 0) / found.length, most: Math.max(...found) };
}

function matteOf({ width, height, values, output }: MatteCase, spread: boolean): Promise<Uint8Array> {
  const decoder = { name: 'alpha-matte', output: 'output', values, spread };
  const make = createMatteMaker(modelSaying({ matting: { labels: [], decoder, says: { output: tensor(output) } } }));
  const box = { x0: 0, y0: 0, x1: width, y1: height };
  return make(smoothPicture(width, height), { box, outline: null });
}

test.each(goldens.mattes)(
  '$name on $width × $height: the matte is that of rembg, but for the ringing of its scaling',
  async (golden) => {
    const { mean, most } = gaps(await matteOf(golden, true), golden.mask);
    expect(mean).toBeLessThan(3.5);
    expect(most).toBeLessThanOrEqual(18);
    // Only what requests it is spread.
    expect(gaps(await matteOf(golden, false), golden.mask).mean).toBeGreaterThan(7);
  },
);

/** Returns the network's output for each tile, in the order of the calls. */
function maker({ name, tile, overlap, scale, tiles }: TiledCase, seen: FloatTensor[]) {
  const input = { layout: 'NCHW', dtype: 'float32', colour: 'RGB', range: [0, 1], mean: [0, 0, 0], std: [1, 1, 1] };
  const side = tile * scale;
  const entry = {
    path: 'network.onnx',
    sha256: '0'.repeat(64),
    inputs: { input: { shape: [1, 3, tile, tile], ...input } },
    outputs: { output: { shape: [1, 3, side, side] } },
    decoder: { name: 'image-to-image', output: 'output', scale, overlap, range: [0, 1] },
  };
  const manifest = parseManifest(
    JSON.stringify({
      model: 'made',
      release: '2026-01-01',
      task: 'picture-enhancement',
      description: name,
      license: 'Apache-2.0',
      files: { network: entry },
      warmUp: { network: { input: [1, 3, tile, tile] } },
    }),
  );
  const model: Model = {
    manifest,
    uses: {},
    run: async (_, inputs) => {
      const pixels = Buffer.from(tiles[seen.length] ?? '', 'base64');
      seen.push(inputs.input as FloatTensor);
      const data = new Float32Array(pixels.length);
      pixels.forEach((level, place) => {
        data[(place % 3) * side * side + Math.floor(place / 3)] = level / 255;
      });
      const said = { data, shape: [1, 3, side, side] };
      return { shapeOf: () => said.shape, floats: () => said, integers: () => [] };
    },
  };
  return createPictureMaker(model, 'network');
}

test.each(goldens.tiled)('$name: two tiles are joined to what is made of the whole picture', async (golden) => {
  const { width, height, tile } = golden;
  const picture: RgbImage = smoothPicture(width, height);
  const seen: FloatTensor[] = [];
  const { pixels } = await maker(golden, seen).make(picture);
  expect(seen.map(({ data }) => data[0])).toEqual(
    [0, width - tile].map((x) => Math.fround((picture.pixels[x * 3] ?? 0) / 255)),
  );
  const { mean, most } = gaps(pixels, golden.pixels);
  expect(mean).toBeLessThan(0.2);
  expect(most).toBeLessThanOrEqual(8);
});
