/** What a detector makes of `model.json`, and what it refuses before it sees a picture. */
import { describe, expect, test } from 'vitest';
import { parseManifest } from '../../../../src/inference/models/manifest.ts';
import type { Model, ModelInputs } from '../../../../src/inference/models/model.ts';
import type { FloatTensor } from '../../../../src/inference/models/tensors.ts';
import { createClassifier } from '../../../../src/inference/toolkit/detection/classifier.ts';
import { createDetector } from '../../../../src/inference/toolkit/detection/detector.ts';
import { createPictureInput } from '../../../../src/inference/toolkit/images/picture-input.ts';
import { manifestOfGuide } from '../../support/exported-models.ts';

const VOCABULARY = ['tire', 'rim.alloy', 'sidewall_damage.cut'] as const;
const IMAGES = { ...(manifestOfGuide().files.detector.inputs as { images: object }).images };

/** The model of the guide, its file changed; it says `output`. */
function model(changes: Record<string, unknown>, output?: FloatTensor, asked: ModelInputs[] = []): Model {
  const manifest = manifestOfGuide();
  const files = { detector: { ...manifest.files.detector, ...changes } };
  const floats = () => {
    if (!output) throw new Error('it is not asked');
    return output;
  };
  return {
    manifest: parseManifest(JSON.stringify({ ...manifest, files })),
    uses: {},
    run: async (_, inputs) => {
      asked.push(inputs);
      return { shapeOf: () => floats().shape, floats, integers: () => [...floats().data] };
    },
  };
}

const wrong: [string, Record<string, unknown>, RegExp][] = [
  [
    'a decoder that does not exist',
    { decoder: { name: 'yolo', output: 'output0' } },
    /files\.detector\.decoder\.name must be one of yolo-detection, /,
  ],
  [
    'a decoder that finds nothing in a place',
    { decoder: { name: 'softmax-classification', output: 'output0', score: 0.5 } },
    /files\.detector\.decoder\.name must be one of yolo-detection, /,
  ],
  [
    'a decoder that lacks a setting',
    { decoder: { name: 'yolo-end-to-end', output: 'output0' } },
    /files\.detector\.decoder must have required property 'score'/,
  ],
  [
    'a setting that its decoder does not have',
    { decoder: { name: 'yolo-end-to-end', output: 'output0', score: 0.5, overlap: 0.5 } },
    /files\.detector\.decoder must not have the property 'overlap'/,
  ],
  [
    'a decoder of an output that it lacks',
    { decoder: { name: 'yolo-end-to-end', output: 'boxes', score: 0.5 } },
    /files\.detector\.decoder names boxes, which is not one of outputs/,
  ],
  [
    'a class that the endpoint does not know',
    { labels: ['tire', 'wheel', null] },
    /files\.detector\.labels\.1 must be one of tire, rim\.alloy, /,
  ],
  ['no class at all', { labels: [null, null, null] }, /files\.detector\.labels must not be null throughout/],
  ['too few classes', { labels: ['tire', null] }, /files\.detector\.labels must name 3 classes, .* not 2/],
  [
    'an unknown order of colours',
    { inputs: { images: { ...IMAGES, colour: 'YUV' } } },
    /files\.detector\.inputs\.images\.colour must be one of RGB, BGR/,
  ],
  [
    'a range in which every picture is the same',
    { inputs: { images: { ...IMAGES, range: [1, 1] } } },
    /files\.detector\.inputs\.images\.range must not hold a value twice/,
  ],
  [
    'a field of an input that nothing reads',
    { inputs: { images: { ...IMAGES, interpolation: 'bilinear' } } },
    /inputs\.images must not have the property 'interpolation', only shape, .*resize, crop, sides, filter$/,
  ],
  [
    'a size that is scaled like a picture',
    {
      inputs: { images: IMAGES, size: { shape: [1, 2], dtype: 'int64', resize: 'stretch' } },
      outputs: { boxes: { shape: [1, 9, 4] }, scores: { shape: [1, 9] }, labels: { shape: [1, 9] } },
      decoder: {
        name: 'detr-with-postprocessor',
        boxes: 'boxes',
        scores: 'scores',
        labels: 'labels',
        sizeInput: 'size',
        score: 0.5,
      },
    },
    /files\.detector\.inputs\.size must not have the property 'resize', only shape, dtype$/,
  ],
  ['an input of any size', { inputs: { images: { ...IMAGES, shape: [1, 3, 'H', 'W'] } } }, /with a fixed size/],
  ['two pictures', { inputs: { a: IMAGES, b: IMAGES } }, /files\.detector\.inputs must hold one picture, not 2/],
];

test.each(wrong)('the detector refuses %s and names the field', (_, changes, reason) => {
  expect(() => createDetector(model(changes), VOCABULARY)).toThrow(reason);
});

test('a classifier that ignores every class is refused', () => {
  const decoder = { name: 'softmax-classification', output: 'output0', score: 0.5 };
  const view = { labels: [null, null], outputs: { output0: { shape: [1, 2] } }, decoder };
  expect(() => createClassifier(model(view), 'detector', ['front'])).toThrow(
    'files.detector.labels must not be null throughout',
  );
});

describe('a finding of the detector', () => {
  const decoder = { name: 'yolo-end-to-end', output: 'output0', score: 0.5 };
  const find = (...rows: number[][]) =>
    createDetector(
      model({ decoder, labels: ['tire', null] }, { shape: [1, rows.length, 6], data: Float32Array.from(rows.flat()) }),
      VOCABULARY,
    )({ width: 128, height: 96, pixels: new Uint8Array(128 * 96 * 3) });

  test('a finding of the detector lies in the pixels of the picture, and within it', async () => {
    expect(await find([10, 20, 20, 30, 0.9, 0], [-9, -9, 99, 99, 0.8, 0])).toEqual([
      {
        label: 'tire',
        confidence: expect.closeTo(0.9),
        box: { x0: 20, y0: 24, x1: 40, y1: 44 },
        outline: null,
        points: null,
      },
      expect.objectContaining({ box: { x0: 0, y0: 0, x1: 128, y1: 96 } }),
    ]);
  });

  test('the detector finds nothing for an ignored class or an empty box', async () => {
    expect(await find([10, 20, 20, 30, 0.9, 1], [10, 20, 10, 30, 0.9, 0], [Number.NaN, 20, 20, 30, 0.9, 0])).toEqual(
      [],
    );
  });

  test('a class without a label is a model error', async () => {
    await expect(find([10, 20, 20, 30, 0.9, 2])).rejects.toThrow('the class 2 has no label in model.json');
  });
});

describe('an input picture', () => {
  /** One red, one green, one blue, one black pixel. */
  const picture = { width: 2, height: 2, pixels: Uint8Array.of(255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0) };
  const prepare = (changes: object) =>
    createPictureInput(
      model({ inputs: { images: { ...IMAGES, shape: [1, 3, 2, 2], ...changes } } }),
      'detector',
    ).prepare(picture);

  test('a picture becomes planes in the channel order and range of model.json', () => {
    const { tensor } = prepare({ colour: 'BGR', range: [-1, 1], mean: [0, 0.5, 0], std: [1, 1, 0.5] });
    expect(tensor.shape).toEqual([1, 3, 2, 2]);
    expect([...tensor.data]).toEqual([-1, -1, 1, -1, -1.5, 0.5, -1.5, -1.5, 2, -2, -2, -2]);
  });

  test('a picture that is stretched is mapped back per axis', () => {
    const { toPicture } = prepare({ shape: [1, 3, 8, 4], resize: 'stretch' });
    expect(toPicture({ x: 4, y: 8 })).toEqual({ x: 2, y: 2 });
    expect(toPicture({ x: 1, y: 4 })).toEqual({ x: 0.5, y: 1 });
  });

  test('a picture that is letterboxed is centred on the grey level in model.json', () => {
    const { tensor, toPicture } = prepare({ shape: [1, 3, 4, 2], pad: 0.2 });
    const rows = Array.from({ length: 4 }, (_, row) => tensor.data[row * 2] ?? Number.NaN);
    expect(rows[0]).toBeCloseTo(0.2);
    expect(rows[1]).toBe(1);
    expect(rows[3]).toBeCloseTo(0.2);
    expect(toPicture({ x: 2, y: 3 })).toEqual({ x: 2, y: 2 });
  });
});
