/** Held to numbers that the Python reader (Pillow, NumPy) computed: see goldens/make_goldens.py. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { suppressOverlaps } from '../../../../src/inference/toolkit/decoding/boxes.ts';
import { decodeCtc, weakestCharacter } from '../../../../src/inference/toolkit/decoding/ctc.ts';
import { letterbox, squareCrop, toOriginal } from '../../../../src/inference/toolkit/images/fit.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import { rgbTensor } from '../../../../src/inference/toolkit/images/tensors.ts';
import { cutLine, type LineRules } from '../../../../src/inference/toolkit/text/line-cutting.ts';
import { TEXT_LINE_HEIGHT, textLineTensor } from '../../../../src/inference/toolkit/text/line-reader.ts';

type Corners = [number, number, number, number];

interface Goldens {
  letterboxes: {
    box: Corners;
    width: number;
    height: number;
    scale: number;
    left: number;
    top: number;
    tensor: string;
  }[];
  squares: { box: Corners; factor: number; size: number; tensor: string }[];
  lines: { box: Corners; shape: number[]; values: string }[];
  lineRules: LineRules;
  ctc: {
    labels: string[];
    shape: number[];
    logProbabilities: string;
    text: string;
    weakest: number;
    probabilities: number[];
  };
  suppression: { boxes: Corners[]; overlap: number; kept: number[] };
}

const goldens = JSON.parse(
  readFileSync(new URL('../../goldens/preprocessing.json', import.meta.url), 'utf8'),
) as Goldens;

const picture = testPicture(97, 61);

test.each(goldens.letterboxes)(
  'a letterbox of $box into $width × $height is the pixels of Pillow within one level',
  (golden) => {
    const { image, transform } = letterbox(picture, toBox(golden.box), golden.width, golden.height);
    expect(largestGap(rgbTensor([image]).data, [...Buffer.from(golden.tensor, 'base64')], 255)).toBeLessThan(
      1.001 / 255,
    );
    expect(transform).toEqual({
      scale: golden.scale,
      offsetX: golden.left,
      offsetY: golden.top,
      originX: golden.box[0],
      originY: golden.box[1],
    });
  },
);

test('the transform of a letterbox leads the corners of its input back to the corners of the box', () => {
  const box = toBox([10.25, 5.5, 60.25, 30.5]);
  const { transform } = letterbox(picture, box, 100, 80);
  const { scale, offsetX, offsetY } = transform;
  const inner = { x0: offsetX, y0: offsetY, x1: offsetX + 50 * scale, y1: offsetY + 25 * scale };
  expect(toOriginal(inner, transform)).toEqual(box);
});

test.each(goldens.squares)(
  'a square crop around $box at $size pixels is the pixels of Pillow within one level',
  (golden) => {
    const image = squareCrop(picture, toBox(golden.box), golden.factor, golden.size);
    expect(largestGap(rgbTensor([image]).data, [...Buffer.from(golden.tensor, 'base64')], 255)).toBeLessThan(
      1.001 / 255,
    );
  },
);

test.each(goldens.lines)('a text line at $box is the tensor of Pillow and NumPy within one level', (golden) => {
  const tensor = textLineTensor(cutLine(picture, toBox(golden.box), goldens.lineRules, TEXT_LINE_HEIGHT));
  expect(tensor.shape).toEqual(golden.shape);
  const bytes = Buffer.from(golden.values, 'base64');
  const expected = Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readUInt16LE(index * 2));
  expect(largestGap(tensor.data, expected, 65_535)).toBeLessThan(1.02 / 255);
});

test('a text line is decoded to the characters and probabilities of NumPy', () => {
  const { labels, shape, logProbabilities, text, weakest, probabilities } = goldens.ctc;
  const bytes = Buffer.from(logProbabilities, 'base64');
  const data = Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  const line = decodeCtc({ data, shape }, labels, 0);
  expect(line.text).toBe(text);
  expect(weakestCharacter(line)).toBeCloseTo(weakest, 6);
  const gaps = line.characters.map(({ probability }, index) => Math.abs(probability - (probabilities[index] ?? -1)));
  expect(Math.max(...gaps)).toBeLessThan(1e-6);
});

test('suppression keeps the boxes that the Python reader keeps', () => {
  const { boxes, overlap, kept } = goldens.suppression;
  const items = boxes.map((corners, place) => ({ box: toBox(corners), place }));
  expect(suppressOverlaps(items, overlap).map(({ place }) => place)).toEqual(kept);
});

/** The same formula stands in make_goldens.py. */
function testPicture(width: number, height: number): RgbImage {
  const pixels = new Uint8Array(width * height * 3);
  for (let index = 0; index < pixels.length; index += 1) {
    const channel = index % 3;
    const x = Math.floor(index / 3) % width;
    const y = Math.floor(index / 3 / width);
    pixels[index] = (x * 7 + y * 3 + ((x * y) % 31) * 5 + channel * 61) % 256;
  }
  return { width, height, pixels };
}

function toBox([x0, y0, x1, y1]: Corners) {
  return { x0, y0, x1, y1 };
}

/** Between a tensor of 0…1 and whole numbers of which `full` means 1. */
function largestGap(data: Float32Array, expected: readonly number[], full: number): number {
  expect(data.length).toBe(expected.length);
  return Math.max(...Array.from(data, (value, index) => Math.abs(value - (expected[index] ?? Number.NaN) / full)));
}
