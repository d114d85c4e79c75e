/** A picture in tiles gives what the network would make of it whole. */
import { expect, test } from 'vitest';
import { parseManifest } from '../../../../src/inference/models/manifest.ts';
import type { Model } from '../../../../src/inference/models/model.ts';
import type { FloatTensor } from '../../../../src/inference/models/tensors.ts';
import { createPictureMaker } from '../../../../src/inference/toolkit/images/image-to-image.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import { cutTile, tileSpans } from '../../../../src/inference/toolkit/images/tiles.ts';
import { smoothPicture } from '../../support/exported-models.ts';

const SIDE = 24;

/** `times` passes of a mean of 3 × 3 pixels, black beyond the edges, then each pixel drawn out to scale × scale. */
function network({ data, shape }: FloatTensor, times: number, scale: number): FloatTensor {
  const [, , height = 0, width = 0] = shape;
  let planes = data;
  for (let pass = 0; pass < times; pass += 1) {
    const before = planes;
    planes = before.map((_, index) => {
      const [x, y] = [index % width, Math.floor(index / width) % height];
      const plane = index - y * width - x;
      let sum = 0;
      for (const dy of [-1, 0, 1]) {
        for (const dx of [-1, 0, 1]) {
          if (x + dx < 0 || y + dy < 0 || x + dx >= width || y + dy >= height) continue;
          sum += before[plane + (y + dy) * width + x + dx] ?? 0;
        }
      }
      return sum / 9;
    });
  }
  const large = new Float32Array(3 * height * width * scale ** 2);
  large.forEach((_, index) => {
    const [x, y] = [index % (width * scale), Math.floor(index / (width * scale)) % (height * scale)];
    const channel = Math.floor(index / (width * height * scale ** 2));
    const source = (channel * height + Math.floor(y / scale)) * width + Math.floor(x / scale);
    large[index] = planes[source] ?? 0;
  });
  return { data: large, shape: [1, 3, height * scale, width * scale] };
}

interface Changes {
  scale?: number;
  overlap?: number;
  colour?: 'RGB' | 'BGR';
  passes?: number;
  shape?: number[];
  /** Of the input. */
  fields?: object;
  range?: number[];
}

/** @param runs after which the network is given up */
function maker(
  { scale = 2, overlap = 12, colour = 'RGB', passes = 3, shape, fields, range = [0, 1] }: Changes = {},
  seen: number[][] = [],
  runs = Infinity,
) {
  const manifest = parseManifest(
    JSON.stringify({
      model: 'enlarging',
      release: '2026-01-01',
      task: 'picture-enhancement',
      description: 'Draws pictures out.',
      license: 'Apache-2.0',
      files: {
        upscale: {
          path: 'upscale.onnx',
          sha256: '0'.repeat(64),
          inputs: {
            input: {
              shape: [1, 3, SIDE, SIDE],
              layout: 'NCHW',
              dtype: 'float32',
              colour,
              range: [0, 1],
              mean: [0, 0, 0],
              std: [1, 1, 1],
              ...fields,
            },
          },
          outputs: { output: { shape: shape ?? [1, 3, SIDE * scale, SIDE * scale] } },
          decoder: { name: 'image-to-image', output: 'output', scale, overlap, range },
        },
      },
      warmUp: { upscale: { input: [1, 3, SIDE, SIDE] } },
    }),
  );
  const model: Model = {
    manifest,
    uses: {},
    run: async (_, inputs) => {
      const input = inputs.input as FloatTensor;
      seen.push([...input.shape]);
      if (seen.length === runs) throw new Error('nobody waits for this task any more');
      const said = network(input, passes, scale);
      return { shapeOf: () => said.shape, floats: () => said, integers: () => [] };
    },
  };
  return createPictureMaker(model, 'upscale');
}

function whole(picture: RgbImage, passes: number, scale: number): Uint8Array {
  const plane = picture.width * picture.height;
  const data = new Float32Array(3 * plane);
  picture.pixels.forEach((level, index) => {
    data[(index % 3) * plane + Math.floor(index / 3)] = level / 255;
  });
  const { data: made } = network({ data, shape: [1, 3, picture.height, picture.width] }, passes, scale);
  const pixels = new Uint8Array(made.length);
  made.forEach((value, index) => {
    const channel = Math.floor(index / (plane * scale ** 2));
    pixels[(index % (plane * scale ** 2)) * 3 + channel] = Math.round(value * 255);
  });
  return pixels;
}

const gap = (one: Uint8Array, other: Uint8Array) =>
  Math.max(...one.map((level, index) => Math.abs(level - (other[index] ?? -255))));

test.each([
  [75, 50],
  [24, 24],
  [25, 61],
  [200, 24],
])(
  'a picture of %d × %d is the same in tiles as whole, where the network sees no farther than a quarter of the overlap',
  async (width, height) => {
    const picture = smoothPicture(width, height);
    const made = await maker().make(picture);
    expect([made.width, made.height]).toEqual([2 * width, 2 * height]);
    expect(gap(made.pixels, whole(picture, 3, 2))).toBeLessThanOrEqual(1);
  },
);

test('tiles of a network of longer reach show no seams', async () => {
  const picture: RgbImage = { width: 100, height: 24, pixels: new Uint8Array(100 * 24 * 3).fill(200) };
  const passes = 9;
  const { pixels } = await maker({ scale: 1, passes }).make(picture);
  const truth = whole(picture, passes, 1);
  const middle = 12 * 100 * 3;
  const steps = Array.from({ length: 80 }, (_, place) => {
    const index = middle + (place + 10) * 3;
    return Math.abs((pixels[index + 3] ?? 0) - (pixels[index] ?? 0));
  });
  // What the network makes of the dark beyond a tile is faded away: no neighbours differ by more than this.
  expect(Math.max(...steps)).toBeLessThanOrEqual(3);
  expect(gap(pixels, truth)).toBeLessThanOrEqual(12);
});

test('a picture smaller than a tile is made of one tile, cropped', async () => {
  const seen: number[][] = [];
  const made = await maker({}, seen).make(smoothPicture(10, 7));
  expect([made.width, made.height, made.pixels.length]).toEqual([20, 14, 20 * 14 * 3]);
  expect(seen).toEqual([[1, 3, SIDE, SIDE]]);
});

test("the network runs on one tile at a time, whatever the picture's size", async () => {
  const seen: number[][] = [];
  await maker({ passes: 0 }, seen).make(smoothPicture(130, 90));
  expect(new Set(seen.map(String))).toEqual(new Set([`1,3,${SIDE},${SIDE}`]));
  expect(seen).toHaveLength(10 * 7);
});

test('no further tile is made after an aborted run', async () => {
  const seen: number[][] = [];
  const made = maker({}, seen, 3).make(smoothPicture(130, 90));
  await expect(made).rejects.toThrow('nobody waits');
  expect(seen).toHaveLength(3);
});

test('a network that enlarges by four makes a double, too', async () => {
  const picture = smoothPicture(60, 40);
  const made = await maker({ scale: 4, passes: 0 }).make(picture, 2);
  expect([made.width, made.height]).toEqual([120, 80]);
  // Four pixels of one colour, shrunk to two: its own colour, but for what the filter takes of the neighbours.
  expect(gap(made.pixels, whole(picture, 0, 2))).toBeLessThan(140);
  const mean = (pixels: Uint8Array) => pixels.reduce((sum, level) => sum + level, 0) / pixels.length;
  expect(Math.abs(mean(made.pixels) - mean(picture.pixels))).toBeLessThan(1);
});

test('colours stay the same with BGR inputs and outputs', async () => {
  const picture = smoothPicture(40, 30);
  const made = await maker({ scale: 1, passes: 0, colour: 'BGR' }).make(picture);
  expect(gap(made.pixels, picture.pixels)).toBeLessThanOrEqual(1);
});

test('inconsistent settings of image-to-image are refused, and the field named', () => {
  expect(() => maker({ range: [1, 1] })).toThrow('files.upscale.decoder.range must not hold a value twice');
  expect(() => maker({ fields: { resize: 'letterbox' } })).toThrow(
    "files.upscale.inputs.input must not have the property 'resize', only shape, layout, dtype, colour, range, mean, std",
  );
  expect(() => maker({ overlap: 13 })).toThrow('files.upscale.decoder.overlap must be at most half');
  expect(() => maker({ shape: [1, 3, SIDE, SIDE] })).toThrow(
    'files.upscale.outputs.output.shape must be [1, 3, 48, 48]',
  );
});

test('tiles cover an axis with the requested overlap and stay within it', () => {
  for (const length of [24, 25, 40, 97, 200]) {
    const spans = tileSpans(length, SIDE, 12);
    expect(spans[0]?.start).toBe(0);
    expect((spans.at(-1)?.start ?? 0) + SIDE).toBe(length);
    for (const [index, { start, fadeFrom, fadeTo }] of spans.slice(1).entries()) {
      const before = spans[index]?.start ?? 0;
      expect(before + SIDE - start).toBeGreaterThanOrEqual(12);
      expect(fadeFrom).toBeGreaterThanOrEqual(start + 3);
      expect(fadeTo).toBeLessThanOrEqual(before + SIDE - 3);
    }
  }
});

test("a tile repeats the picture's edge beyond it", () => {
  const picture: RgbImage = { width: 2, height: 1, pixels: Uint8Array.of(1, 2, 3, 4, 5, 6) };
  expect([...cutTile(picture, 0, 0, 3, 2).pixels]).toEqual([1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3, 4, 5, 6, 4, 5, 6]);
});
