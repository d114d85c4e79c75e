/**
 * Held to networks that Ultralytics, Transformers and PaddleOCR's kin export themselves, and to what these packages make of
 * what the networks say: see goldens/make_export_goldens.py.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeCtc } from '../../../../src/inference/toolkit/decoding/ctc.ts';
import { decodeDbText } from '../../../../src/inference/toolkit/decoding/db-text.ts';
import type { Point, RawDetection } from '../../../../src/inference/toolkit/decoding/detections.ts';
import {
  decodeDetr,
  decodeDetrSoftmax,
  decodeUltralyticsRtDetr,
} from '../../../../src/inference/toolkit/decoding/detr.ts';
import { decodeSemanticSegmentation } from '../../../../src/inference/toolkit/decoding/semantic-segmentation.ts';
import {
  decodeYoloDetection,
  decodeYoloEndToEnd,
  decodeYoloEndToEndObb,
  decodeYoloEndToEndPose,
  decodeYoloEndToEndSegmentation,
  decodeYoloObb,
  decodeYoloPose,
  decodeYoloSegmentation,
  type YoloSettings,
} from '../../../../src/inference/toolkit/decoding/yolo.ts';
import { createClassifier } from '../../../../src/inference/toolkit/detection/classifier.ts';
import { cover, letterbox } from '../../../../src/inference/toolkit/images/fit.ts';
import { createPictureInput } from '../../../../src/inference/toolkit/images/picture-input.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import { fillOutline } from '../../../../src/inference/toolkit/segmentation/outline-mattes.ts';
import { smoothPicture } from '../../support/exported-models.ts';
import { type Corner, type DetrCase, type Found, type StoredTensor, tensor } from '../../support/golden-values.ts';
import { modelSaying, picture } from '../../support/saying-model.ts';

interface YoloCase {
  name: string;
  output: StoredTensor;
  classes: number;
  settings: YoloSettings;
}

interface Goldens {
  yoloDetection: (YoloCase & { found: Found[]; picture: [number, number]; inPicture: number[][] })[];
  yoloEndToEnd: (Omit<YoloCase, 'classes'> & { found: Found[] })[];
  yoloSegmentation: (YoloCase & {
    isEndToEnd: boolean;
    prototypes: StoredTensor;
    size: number;
    things: (Found & { pixels: string })[];
  })[];
  yoloPose: (YoloCase & {
    isEndToEnd: boolean;
    keypoints: number;
    values: 2 | 3;
    found: (Found & { keypoints: Corner[] })[];
  })[];
  yoloObb: (YoloCase & { isEndToEnd: boolean; found: (Omit<Found, 'box'> & { corners: Corner[] })[] })[];
  yoloClassification: { output: StoredTensor; sum: number };
  ultralyticsRtDetr: { output: StoredTensor; size: number; settings: { score: number }; found: Found[] };
  letterboxes: { width: number; height: number; side: number; pixels: string }[];
  centreCrops: { width: number; height: number; side: number; crop: number; pixels: string }[];
  detr: (DetrCase & { name: string })[];
  detrSoftmax: DetrCase;
  segformer: {
    logits: StoredTensor;
    size: number;
    minimumPixels: number;
    found: Found[];
    input: { width: number; height: number; mean: number[]; std: number[]; tensor: StoredTensor };
  };
  ppOcr: {
    width: number;
    height: number;
    levels: string;
    settings: { threshold: number; score: number; unclip: number };
    found: { score: number; corners: Corner[] }[];
    lines: { output: StoredTensor; labels: string[]; text: string; confidence: number }[];
  };
}

const goldens = JSON.parse(readFileSync(new URL('../../goldens/exports.json', import.meta.url), 'utf8')) as Goldens;

function expectFound(actual: readonly RawDetection[], expected: readonly Found[], tolerance = 0.001): void {
  expect(expected.length).toBeGreaterThan(3);
  expect(actual.map(({ classIndex }) => classIndex)).toEqual(expected.map(({ classIndex }) => classIndex));
  for (const [index, { score, box }] of actual.entries()) {
    expect(score).toBeCloseTo(expected[index]?.score ?? Number.NaN, 5);
    expectClose([box.x0, box.y0, box.x1, box.y1], expected[index]?.box ?? [], tolerance);
  }
}

function expectClose(actual: readonly number[], expected: readonly number[], tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  const gaps = actual.map((value, index) => Math.abs(value - (expected[index] ?? Number.NaN)));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(tolerance);
}

const flat = (points: readonly Point[]) => points.flatMap(({ x, y }) => [x, y]);

test.each(goldens.yoloDetection)('$name: boxes are those of Ultralytics', ({ output, classes, settings, found }) => {
  expectFound(decodeYoloDetection(tensor(output), classes, settings), found);
});

test.each(goldens.yoloDetection)('$name: a letterbox leads boxes back to the picture as Ultralytics does', (golden) => {
  const [width, height] = golden.picture;
  const side = 64;
  const { scale, offsetX, offsetY } = letterbox(
    smoothPicture(width, height),
    { x0: 0, y0: 0, x1: width, y1: height },
    side,
    side,
  ).transform;
  const within = (value: number, most: number) => Math.min(Math.max(value, 0), most);
  for (const [index, { box }] of golden.found.entries()) {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = box;
    const [across, down] = [(x: number) => (x - offsetX) / scale, (y: number) => (y - offsetY) / scale];
    const led = [
      within(across(x0), width),
      within(down(y0), height),
      within(across(x1), width),
      within(down(y1), height),
    ];
    expectClose(led, golden.inPicture[index] ?? [], 0.001);
  }
});

test.each(goldens.yoloEndToEnd)('$name, end to end: boxes are those of Ultralytics', ({ output, settings, found }) => {
  expectFound(decodeYoloEndToEnd(tensor(output), settings), found);
});

test.each(goldens.yoloSegmentation)('$name: outlines go around the masks of Ultralytics', (golden) => {
  const tensors = { output: tensor(golden.output), prototypes: tensor(golden.prototypes) };
  const size = { width: golden.size, height: golden.size };
  const found = golden.isEndToEnd
    ? decodeYoloEndToEndSegmentation(tensors, size, golden.settings).slice(0, golden.settings.maximum)
    : decodeYoloSegmentation(tensors, golden.classes, size, golden.settings);
  expectFound(found, golden.things);
  for (const [index, { outline }] of found.entries()) {
    const bytes = Buffer.from(golden.things[index]?.pixels ?? '', 'base64');
    const expected = Array.from(
      { length: golden.size ** 2 },
      (_, pixel) => ((bytes[pixel >> 3] ?? 0) >> (7 - (pixel % 8))) & 1,
    );
    // An outline is simplified within one pixel: what it gets wrong touches its edge.
    const wrong = [...fillOutline(outline, size)].flatMap((value, pixel) =>
      (value === 255) === (expected[pixel] === 1) || isOnEdge(expected, golden.size, pixel) ? [] : [pixel],
    );
    expect(wrong).toEqual([]);
  }
});

test.each(goldens.yoloPose)('$name: keypoints are those of Ultralytics', (golden) => {
  const settings = { ...golden.settings, keypoints: golden.keypoints, values: golden.values };
  const found = golden.isEndToEnd
    ? decodeYoloEndToEndPose(tensor(golden.output), settings).slice(0, settings.maximum)
    : decodeYoloPose(tensor(golden.output), golden.classes, settings);
  expectFound(found, golden.found);
  for (const [index, { keypoints }] of found.entries()) {
    expectClose(flat(keypoints), golden.found[index]?.keypoints.flat() ?? [], 0.001);
  }
});

test.each(goldens.yoloObb)('$name: turned boxes are those of Ultralytics, by its own suppression', (golden) => {
  const found = golden.isEndToEnd
    ? decodeYoloEndToEndObb(tensor(golden.output), golden.settings).slice(0, golden.settings.maximum)
    : decodeYoloObb(tensor(golden.output), golden.classes, golden.settings);
  expect(golden.found.length).toBeGreaterThan(3);
  expect(found.map(({ classIndex }) => classIndex)).toEqual(golden.found.map(({ classIndex }) => classIndex));
  for (const [index, { score, corners }] of found.entries()) {
    const expected = golden.found[index];
    expect(score).toBeCloseTo(expected?.score ?? Number.NaN, 5);
    // The same corners, in another order.
    const nearest = (expected?.corners ?? []).map(([x, y]) =>
      Math.min(...corners.map((corner) => Math.hypot(corner.x - x, corner.y - y))),
    );
    expect(Math.max(...nearest)).toBeLessThan(0.001);
  }
});

test('the probabilities of an Ultralytics classifier stay unchanged', async () => {
  const output = tensor(goldens.yoloClassification.output);
  expect(goldens.yoloClassification.sum).toBeCloseTo(1, 5);
  const labels = ['a', 'b', 'c', 'd', 'e'] as const;
  const decoder = { name: 'softmax-classification', output: 'output0', score: 0, values: 'probabilities' };
  const classify = createClassifier(
    modelSaying({ view: { labels, decoder, says: { output0: output } } }),
    'view',
    labels,
  );
  const best = Math.max(...output.data);
  expect(await classify(picture)).toEqual([{ label: labels[output.data.indexOf(best)], confidence: best }]);
});

test("Ultralytics' RT-DETR is decoded to the boxes of its predictor", () => {
  const { output, size, settings, found } = goldens.ultralyticsRtDetr;
  expectFound(decodeUltralyticsRtDetr(tensor(output), { width: size, height: size }, settings), found);
});

test.each(goldens.detr)('$name of Transformers: boxes are those of its post-processing', (golden) => {
  const { boxes, logits, settings, found, ...size } = golden;
  expectFound(decodeDetr(tensor(boxes), tensor(logits), size, settings), found);
});

test("Transformers' DETR is decoded to the boxes of its post-processing, without the no-object class", () => {
  const { boxes, logits, settings, found, ...size } = goldens.detrSoftmax;
  expectFound(decodeDetrSoftmax(tensor(boxes), tensor(logits), size, settings), found);
});

test("Transformers' SegFormer is decoded to the classes of its post-processing", () => {
  const { logits, size, minimumPixels, found } = goldens.segformer;
  const settings = { score: 0, minimumPixels };
  const actual = decodeSemanticSegmentation(
    tensor(logits),
    { width: size, height: size },
    (index) => index > 0,
    settings,
  );
  expectFound(actual, found, 0);
});

test("SegFormer's input is prepared as its own processor does it, within one level", () => {
  const { width, height, mean, std, tensor: stored } = goldens.segformer.input;
  const [, , inputHeight = 0, inputWidth = 0] = stored.shape;
  const { tensor: made } = prepared(
    { mean, std, resize: 'stretch', shape: [1, 3, inputHeight, inputWidth] },
    width,
    height,
  );
  const expected = tensor(stored);
  expect(made.shape).toEqual(expected.shape);
  const gaps = made.data.map((value, index) => Math.abs(value - (expected.data[index] ?? Number.NaN)));
  expect(Math.max(...gaps)).toBeLessThan(1.01 / 255 / Math.min(...std));
});

test.each(goldens.letterboxes)(
  'bilinear, a letterbox of $width × $height in $side is the pixels of Ultralytics within one level',
  ({ width, height, side, pixels }) => {
    const levels = { layout: 'NHWC', range: [0, 255], mean: [0, 0, 0], std: [1, 1, 1], pad: 114 / 255 };
    const changes = { ...levels, resize: 'letterbox', filter: 'bilinear', shape: [1, side, side, 3] };
    const { tensor: made } = prepared(changes, width, height);
    expectPixels({ pixels: Uint8Array.from(made.data) }, pixels);
  },
);

test.each(goldens.centreCrops)(
  'the middle of $width × $height at $side, $crop of it, is the pixels of torchvision within one level',
  ({ width, height, side, crop, pixels }) => {
    const whole = { x0: 0, y0: 0, x1: width, y1: height };
    const size = { width: side, height: side };
    expectPixels(cover(smoothPicture(width, height), whole, size, { share: crop }).image, pixels);
  },
);

test('a cropped input is mapped back to the picture', () => {
  const { toPicture } = prepared({ resize: 'cover', crop: 0.5, shape: [1, 3, 32, 32] }, 128, 64);
  // The picture is 128 x 64 pixels when its height is scaled to 32 / 0.5.
  expect(toPicture({ x: 16, y: 16 })).toEqual({ x: 64, y: 32 });
  expect(toPicture({ x: 0, y: 32 })).toEqual({ x: 48, y: 48 });
});

test('PP-OCR: texts lie where its own post-processing puts them, within the rounding of its corners', () => {
  const { width, height, levels, settings, found } = goldens.ppOcr;
  const data = Float32Array.from(Buffer.from(levels, 'base64'), (level) => level / 255);
  const actual = decodeDbText({ shape: [1, 1, height, width], data }, settings);
  expect(actual.length).toBe(found.length);
  for (const [index, { score, corners }] of actual.entries()) {
    expect(score).toBeCloseTo(found[index]?.score ?? Number.NaN, 1);
    expectClose(flat(corners), found[index]?.corners.flat() ?? [], 1.5);
  }
});

test('PP-OCR: the line is read that was printed, as its own decoder reads it', () => {
  for (const { output, labels, text } of goldens.ppOcr.lines) {
    const line = decodeCtc(tensor(output), labels, 0, 'probabilities');
    expect(text).toBe('HH AB 1234');
    expect(line.text).toBe(text);
  }
});

function prepared(changes: Record<string, unknown>, width: number, height: number) {
  const says = { output: { shape: [1, 1], data: new Float32Array(1) } };
  const model = modelSaying({ detector: { labels: [], decoder: { name: 'alpha-matte', output: 'output' }, says } });
  const detector = model.manifest.files.detector as unknown as { inputs: { images: object } };
  const manifest = {
    ...model.manifest,
    files: { detector: { ...detector, inputs: { images: { ...detector.inputs.images, ...changes } } } },
  };
  const input = createPictureInput({ ...model, manifest: manifest as unknown as typeof model.manifest }, 'detector');
  return input.prepare(smoothPicture(width, height));
}

function expectPixels({ pixels }: Pick<RgbImage, 'pixels'>, base64: string): void {
  const expected = Buffer.from(base64, 'base64');
  expect(pixels.length).toBe(expected.length);
  const gaps = pixels.map((level, place) => Math.abs(level - (expected[place] ?? -255)));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(1);
}

/** Whether a pixel has a neighbour of another value; beyond the edge all are 0. */
function isOnEdge(pixels: readonly number[], size: number, pixel: number): boolean {
  const [x, y] = [pixel % size, Math.floor(pixel / size)];
  const at = (column: number, row: number) =>
    column < 0 || row < 0 || column >= size || row >= size ? 0 : (pixels[row * size + column] ?? 0);
  return [-1, 0, 1].some((dy) => [-1, 0, 1].some((dx) => at(x + dx, y + dy) !== at(x, y)));
}
