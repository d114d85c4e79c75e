/** Held to numbers that ONNX's reference, OpenCV and shapely computed: see goldens/make_decoder_goldens.py. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeAlpha } from '../../../../src/inference/toolkit/decoding/alpha-matte.ts';
import { sigmoid, softmax } from '../../../../src/inference/toolkit/decoding/classification.ts';
import { decodeDbText } from '../../../../src/inference/toolkit/decoding/db-text.ts';
import type { Point, RawDetection } from '../../../../src/inference/toolkit/decoding/detections.ts';
import { decodeDetr, decodeDetrWithPostprocessor } from '../../../../src/inference/toolkit/decoding/detr.ts';
import { findRegions, outlineOf, simplifyOutline } from '../../../../src/inference/toolkit/decoding/regions.ts';
import { areaOf } from '../../../../src/inference/toolkit/decoding/rotated-boxes.ts';
import { decodeSemanticSegmentation } from '../../../../src/inference/toolkit/decoding/semantic-segmentation.ts';
import {
  decodeYoloDetection,
  decodeYoloEndToEnd,
  decodeYoloObb,
  decodeYoloPose,
  decodeYoloSegmentation,
  type YoloSettings,
} from '../../../../src/inference/toolkit/decoding/yolo.ts';
import { rectify } from '../../../../src/inference/toolkit/images/rectify.ts';
import { fillOutline } from '../../../../src/inference/toolkit/segmentation/outline-mattes.ts';
import { type Corner, type DetrCase, type Found, type StoredTensor, tensor } from '../../support/golden-values.ts';

interface Goldens {
  yoloDetection: { output: StoredTensor; classes: number; settings: YoloSettings; found: Found[] };
  yoloSegmentation: {
    output: StoredTensor;
    prototypes: StoredTensor;
    classes: number;
    size: number;
    settings: YoloSettings;
    things: { classIndex: number; pixels: string }[];
  };
  yoloObb: {
    output: StoredTensor;
    classes: number;
    settings: YoloSettings;
    things: { classIndex: number; score: number; bounds: number[]; corners: Corner[] }[];
  };
  detr: DetrCase;
  semanticSegmentation: {
    logits: StoredTensor;
    width: number;
    height: number;
    settings: { score: number; minimumPixels: number };
    found: Found[];
  };
  dbText: {
    width: number;
    height: number;
    levels: string;
    settings: { threshold: number; score: number; unclip: number };
    found: { score: number; corners: Corner[] }[];
  };
  outlines: { width: number; height: number; mask: string; outline: Corner[]; tolerance: number; simplified: Corner[] };
  mattes: {
    alpha: StoredTensor;
    part: { x0: number; y0: number; x1: number; y1: number };
    width: number;
    height: number;
    matte: string;
  };
  rectification: {
    picture: string;
    pictureWidth: number;
    pictureHeight: number;
    corners: Corner[];
    width: number;
    height: number;
    pixels: string;
  };
  classification: { logits: number[]; softmax: number[]; sigmoid: number[] };
}

const goldens = JSON.parse(readFileSync(new URL('../../goldens/decoders.json', import.meta.url), 'utf8')) as Goldens;

/** Bit by bit, the first in the highest. */
function bits(base64: string, count: number): number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: count }, (_, index) => ((bytes[index >> 3] ?? 0) >> (7 - (index % 8))) & 1);
}

/** 0 beyond the edge. */
function bitAt(pixels: readonly number[], size: number, x: number, y: number): number {
  return x < 0 || y < 0 || x >= size || y >= size ? 0 : (pixels[y * size + x] ?? 0);
}

function expectFound(actual: readonly RawDetection[], expected: readonly Found[], digits = 3): void {
  expect(actual.map(({ classIndex }) => classIndex)).toEqual(expected.map(({ classIndex }) => classIndex));
  for (const [index, { score, box }] of actual.entries()) {
    expect(score).toBeCloseTo(expected[index]?.score ?? Number.NaN, 5);
    expectClose([box.x0, box.y0, box.x1, box.y1], expected[index]?.box ?? [], digits);
  }
}

function expectClose(actual: readonly number[], expected: readonly number[], digits: number): void {
  expect(actual.length).toBe(expected.length);
  for (const [index, value] of actual.entries()) expect(value).toBeCloseTo(expected[index] ?? Number.NaN, digits);
}

const pairs = (points: readonly Point[]): Corner[] => points.map(({ x, y }) => [x, y]);

test('YOLO detection keeps the boxes that suppression by ONNX keeps, class by class', () => {
  const { output, classes, settings, found } = goldens.yoloDetection;
  expect(found.length).toBe(settings.maximum);
  expectFound(decodeYoloDetection(tensor(output), classes, settings), found);
});

test('the YOLO decoder refuses an output whose rows do not match the classes', () => {
  const { output, classes, settings } = goldens.yoloDetection;
  expect(() => decodeYoloDetection(tensor(output), classes + 1, settings)).toThrow('is not [1, 8, candidates]');
});

test('YOLO end-to-end rows are decoded best first, above the score', () => {
  const rows = [
    [1, 2, 3, 4, 0.6, 1],
    [5, 6, 7, 8, 0.9, 0],
    [0, 0, 0, 0, 0, 0],
  ];
  const output = { shape: [1, 3, 6], data: Float32Array.from(rows.flat()) };
  expectFound(decodeYoloEndToEnd(output, { score: 0.5 }), [
    { classIndex: 0, score: 0.9, box: [5, 6, 7, 8] },
    { classIndex: 1, score: 0.6, box: [1, 2, 3, 4] },
  ]);
});

test('the outline of a YOLO mask goes around the pixels that OpenCV finds', () => {
  const { output, prototypes, classes, size, settings, things } = goldens.yoloSegmentation;
  const found = decodeYoloSegmentation(
    { output: tensor(output), prototypes: tensor(prototypes) },
    classes,
    { width: size, height: size },
    settings,
  );
  expect(found.map(({ classIndex }) => classIndex)).toEqual(things.map(({ classIndex }) => classIndex));
  for (const [index, { outline }] of found.entries()) {
    const expected = bits(things[index]?.pixels ?? '', size * size);
    // It is simplified within one pixel: what it gets wrong touches its edge.
    const wrong = expected.flatMap((bit, pixel) => {
      const [x, y] = [pixel % size, Math.floor(pixel / size)];
      const isOnEdge = [-1, 0, 1].some((dy) => [-1, 0, 1].some((dx) => bitAt(expected, size, x + dx, y + dy) !== bit));
      return isWithin(outline, x + 0.5, y + 0.5) === (bit === 1) || isOnEdge ? [] : [{ x, y }];
    });
    expect(wrong).toEqual([]);
    expect(areaOf(outline)).toBeGreaterThan(0);
  }
});

test('YOLO pose gives the keypoints of what is kept', () => {
  const rows = [
    [10, 40],
    [10, 40],
    [8, 8],
    [8, 8],
    [0.9, 0.2],
    [7, 0],
    [8, 0],
    [0.5, 0],
    [13, 0],
    [14, 0],
    [0.6, 0],
  ];
  const output = { shape: [1, 11, 2], data: Float32Array.from(rows.flat()) };
  const settings = { score: 0.5, overlap: 0.5, maximum: 10, keypoints: 2, values: 3 as const };
  expect(decodeYoloPose(output, 1, settings)).toMatchObject([
    {
      box: { x0: 6, y0: 6, x1: 14, y1: 14 },
      keypoints: [
        { x: 7, y: 8 },
        { x: 13, y: 14 },
      ],
    },
  ]);
});

test('YOLO oriented boxes are turned as shapely turns them', () => {
  const { output, classes, settings, things } = goldens.yoloObb;
  const found = decodeYoloObb(tensor(output), classes, settings);
  expect(found.map(({ classIndex }) => classIndex)).toEqual(things.map(({ classIndex }) => classIndex));
  for (const [index, { score, box, corners }] of found.entries()) {
    const thing = things[index];
    expect(score).toBeCloseTo(thing?.score ?? Number.NaN, 5);
    expectClose([box.x0, box.y0, box.x1, box.y1], thing?.bounds ?? [], 2);
    const sorted = pairs(corners).toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
    expectClose(sorted.flat(), thing?.corners.flat() ?? [], 2);
  }
});

test('the corners of a box come in reading order, also for a rotated box', () => {
  const settings = { score: 0.5, overlap: 0.5, maximum: 1 };
  for (const angle of [0.3, -0.3, 0.3 + Math.PI, 0.3 - Math.PI]) {
    const output = { shape: [1, 6, 1], data: Float32Array.of(50, 50, 40, 10, 0.9, angle) };
    const [first] = decodeYoloObb(output, 1, settings);
    const [topLeft, topRight, bottomRight, bottomLeft] = first?.corners ?? [];
    expect(Math.max(topLeft?.x ?? 0, bottomLeft?.x ?? 0)).toBeLessThan(50);
    expect(Math.min(topRight?.x ?? 0, bottomRight?.x ?? 0)).toBeGreaterThan(50);
    expect(topLeft?.y).toBeLessThan(bottomLeft?.y ?? 0);
    expect(topRight?.y).toBeLessThan(bottomRight?.y ?? 0);
  }
});

test('DETR gives every class of every query, best first, by the sigmoid of NumPy', () => {
  const { boxes, logits, width, height, settings, found } = goldens.detr;
  expectFound(decodeDetr(tensor(boxes), tensor(logits), { width, height }, settings), found);
});

test('DETR with built-in post-processing is decoded above the score', () => {
  const boxes = { shape: [1, 2, 4], data: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8) };
  const scores = { shape: [1, 2], data: Float32Array.of(0.3, 0.8) };
  expectFound(decodeDetrWithPostprocessor(boxes, scores, [4, 2], { score: 0.5 }), [
    { classIndex: 2, score: 0.8, box: [5, 6, 7, 8] },
  ]);
  expect(() => decodeDetrWithPostprocessor(boxes, scores, [4], { score: 0.5 })).toThrow(
    '1 labels do not match 2 boxes',
  );
});

test('semantic segmentation finds the regions that OpenCV finds, as sure of them as NumPy is', () => {
  const { logits, width, height, settings, found } = goldens.semanticSegmentation;
  const isWanted = (classIndex: number) => classIndex > 0;
  const actual = decodeSemanticSegmentation(tensor(logits), { width, height }, isWanted, settings);
  expectFound(
    actual.map((each) => ({ ...each, score: Number(each.score.toFixed(4)) })),
    found.map((each) => ({ ...each, score: Number(each.score.toFixed(4)) })),
  );
});

test('DB text gives the rectangles of OpenCV, grown as shapely grows them', () => {
  const { width, height, levels, settings, found } = goldens.dbText;
  const data = Float32Array.from(Buffer.from(levels, 'base64'), (level) => level / 255);
  const actual = decodeDbText({ shape: [1, 1, height, width], data }, settings);
  expect(actual.length).toBe(found.length);
  for (const [index, { score, corners }] of actual.entries()) {
    expect(score).toBeCloseTo(found[index]?.score ?? Number.NaN, 4);
    expectClose(pairs(corners).flat(), found[index]?.corners.flat() ?? [], 1);
  }
});

test('an outline runs around the pixels of a region as shapely joins them, and is simplified as it simplifies', () => {
  const { width, height, mask, outline, tolerance, simplified } = goldens.outlines;
  const classes = Int16Array.from(bits(mask, width * height), (bit) => bit - 1);
  const [region] = findRegions({ width, height, classes }, 4).toSorted((a, b) => b.pixels.length - a.pixels.length);
  const actual = region ? outlineOf(region, width) : [];
  expect(pairs(actual)).toEqual(outline);
  expect(pairs(simplifyOutline(actual, tolerance))).toEqual(simplified);
});

test('a region of one pixel has the outline of a square, however much is simplified', () => {
  const [region] = findRegions({ width: 3, height: 1, classes: Int16Array.of(-1, 0, -1) }, 4);
  const outline = region ? outlineOf(region, 3) : [];
  expect(pairs(outline)).toEqual([
    [1, 0],
    [2, 0],
    [2, 1],
    [1, 1],
  ]);
  expect(simplifyOutline(outline, 5)).toEqual(outline);
});

test('an outline is filled with the pixels inside it', () => {
  const { width, height, mask } = goldens.outlines;
  const pixels = bits(mask, width * height);
  const regions = findRegions({ width, height, classes: Int16Array.from(pixels, (bit) => bit - 1) }, 4);
  const filled = regions.map((region) => fillOutline(outlineOf(region, width), { width, height }));
  const differing = pixels.flatMap((bit, pixel) =>
    filled.some((each) => each[pixel] === 255) === (bit === 1) ? [] : [pixel],
  );
  // The one pixel that was taken out of the blob: an outline has no holes.
  expect(differing).toHaveLength(1);
});

test('an alpha is scaled to its part of the picture as OpenCV scales it', () => {
  const { alpha, part, width, height, matte } = goldens.mattes;
  // The network sees the part four times as large.
  const size = { width: 4 * (part.x1 - part.x0), height: 4 * (part.y1 - part.y0) };
  const toPicture = ({ x, y }: Point) => ({ x: part.x0 + x / 4, y: part.y0 + y / 4 });
  const actual = decodeAlpha(tensor(alpha), { size, toPicture }, { width, height });
  const expected = Buffer.from(matte, 'base64');
  expect(Math.max(...actual.map((value, pixel) => Math.abs(value - (expected[pixel] ?? -255))))).toBeLessThanOrEqual(1);
});

test('pixels that touch by a corner are joined only with connectivity 8', () => {
  const map = { width: 2, height: 2, classes: Int16Array.of(0, -1, -1, 0) };
  expect(findRegions(map, 4)).toHaveLength(2);
  expect(findRegions(map, 8)).toHaveLength(1);
});

test("a quadrilateral is rectified to OpenCV's pixels, within its steps of 1/32 pixel", () => {
  const { picture, pictureWidth, pictureHeight, corners, width, height, pixels } = goldens.rectification;
  const image = { width: pictureWidth, height: pictureHeight, pixels: Buffer.from(picture, 'base64') };
  const straight = rectify(
    image,
    corners.map(([x, y]) => ({ x, y })),
    width,
    height,
  );
  const expected = Buffer.from(pixels, 'base64');
  expect(straight.pixels.length).toBe(expected.length);
  expect(
    Math.max(...straight.pixels.map((level, place) => Math.abs(level - (expected[place] ?? -255)))),
  ).toBeLessThanOrEqual(2);
});

test('softmax and sigmoid are those of NumPy', () => {
  const { logits, ...expected } = goldens.classification;
  expectClose([...softmax(logits)], expected.softmax, 10);
  expectClose(logits.map(sigmoid), expected.sigmoid, 10);
});

/** Even-odd rule. */
function isWithin(outline: readonly Point[], x: number, y: number): boolean {
  return (
    outline.filter((from, index) => {
      const to = outline[(index + 1) % outline.length] as Point;
      return from.y > y !== to.y > y && x < from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x);
    }).length %
      2 ===
    1
  );
}
