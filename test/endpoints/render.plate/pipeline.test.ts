/** The pipeline with a plate detector of known outputs. */
import { describe, expect, test } from 'vitest';
import type { OutputFormat } from '../../../src/contracts/vocabulary/renders.ts';
import { pipeline } from '../../../src/endpoints/render.plate/pipeline.ts';
import type { Result } from '../../../src/endpoints/render.plate/result.ts';
import type { MadePicture } from '../../../src/inference/toolkit/images/made-pictures.ts';
import { printModel, spelt } from '../../inference/support/print-saying.ts';
import { modelSaying, rows, sent } from '../../inference/support/saying-model.ts';

type Made = Omit<Result, 'image'> & { image: MadePicture };

const SIDE = 64;
/** A plate from (8, 24) to (56, 40) with black bars on white, on a grey ground. */
const picture = {
  width: SIDE,
  height: SIDE,
  pixels: new Uint8Array(SIDE * SIDE * 3).map((_, index) => {
    const [x, y] = [Math.floor(index / 3) % SIDE, Math.floor(index / 3 / SIDE)];
    if (x < 8 || x >= 56 || y < 24 || y >= 40) return 100;
    return Math.floor(x / 3) % 2 === 0 ? 10 : 240;
  }),
};
const corners = [8, 24, 56, 24, 56, 40, 8, 40];
const decoder = { name: 'yolo-pose', output: 'output0', score: 0.2, overlap: 0.5, maximum: 9, keypoints: 4, values: 2 };

function model(score = 0.9) {
  const output0 = rows(...[32, 32, 48, 16, score, ...corners].map((value) => [value]));
  return modelSaying({ detector: { labels: ['plate'], decoder, says: { output0 } } });
}

const run = async (parameters = {}, score = 0.9, format: OutputFormat = 'jpg') => {
  const pictures = sent(picture).map((each) => ({ ...each, format }));
  return (await pipeline.create(model(score))({ pictures, parameters })) as Made;
};

/** Within a pixel and a half: edges are found to about a pixel. */
const about = (value: number) => expect.closeTo(value, -0.5) as unknown;
const at = ({ pixels }: { pixels: Uint8Array }, x: number, y: number) => [
  ...pixels.subarray((y * SIDE + x) * 3, (y * SIDE + x + 1) * 3),
];
const spread = (levels: readonly number[]) => Math.max(...levels) - Math.min(...levels);
const mostApart = (one: readonly number[], other: readonly number[]) =>
  Math.max(...one.map((level, index) => Math.abs(level - (other[index] ?? 0))));
const rowOf = (image: MadePicture, y: number) =>
  Array.from({ length: 44 }, (_, place) => at(image, 10 + place, y)[0] ?? 0);

test('render.plate blurs a plate beyond its letters and changes nothing else', async () => {
  const { image, mode, fill_color, replacement_text, plates } = await run();
  expect([mode, fill_color, replacement_text]).toEqual(['blur', null, null]);
  expect(plates).toEqual([
    {
      confidence: expect.closeTo(0.9) as unknown,
      bbox: { x: about(8), y: about(24), width: about(48), height: about(16) },
      quad: [
        { x: about(8), y: about(24) },
        { x: about(56), y: about(24) },
        { x: about(56), y: about(40) },
        { x: about(8), y: about(40) },
      ],
    },
  ]);
  // Bars with a contrast of 230 levels leave a slope of a few, the same in every row.
  expect(spread(rowOf({ ...image, pixels: picture.pixels }, 32))).toBe(230);
  expect(spread(rowOf(image, 32))).toBeLessThan(40);
  expect(mostApart(rowOf(image, 26), rowOf(image, 38))).toBeLessThanOrEqual(3);
  for (const [x, y] of [
    [2, 32],
    [32, 10],
    [62, 50],
  ] as const) {
    expect(at(image, x, y)).toEqual(at(picture, x, y));
  }
});

test('render.plate leaves only three mean colours of a blurred plate', async () => {
  // Letters in another order with the same ink produce the same picture.
  const mirrored = {
    ...picture,
    pixels: picture.pixels.map((level, index) => {
      const [x, y] = [Math.floor(index / 3) % SIDE, Math.floor(index / 3 / SIDE)];
      return x < 8 || x >= 56 || y < 24 || y >= 40 ? level : 250 - level;
    }),
  };
  const one = await run();
  const other = (await pipeline.create(model())({ pictures: sent(mirrored), parameters: {} })) as Made;
  expect(
    Math.max(...one.image.pixels.map((level, index) => Math.abs(level - (other.image.pixels[index] ?? 0)))),
  ).toBeLessThan(40);
});

test('render.plate masks with one colour, slightly beyond the plate on every side', async () => {
  const { image, fill_color } = await run({ mode: 'mask', fill_color: '#FF8000' });
  expect(fill_color).toBe('#ff8000');
  for (const [x, y] of [
    [8, 24],
    [32, 32],
    [55, 39],
  ] as const) {
    expect(at(image, x, y)).toEqual([255, 128, 0]);
  }
  for (const [x, y] of [
    [7, 32],
    [32, 40],
  ] as const) {
    expect(at(image, x, y)).not.toEqual(at(picture, x, y));
  }
  expect((await run({ mode: 'mask' })).fill_color).toBe('#26292c');
});

test('render.plate states a plate at the edge of the picture within it, and covers it to the edge', async () => {
  // The right side is slanted, the left one lies beyond the picture: taken as parallel, it ends at x = -4.
  const cut = {
    ...picture,
    pixels: picture.pixels.map((_, index) => {
      const [x, y] = [Math.floor(index / 3) % SIDE, Math.floor(index / 3 / SIDE)];
      if (y < 24 || y >= 40 || x > 44 + (32 - y) / 2) return 100;
      return y >= 30 && y < 34 ? 10 : 240;
    }),
  };
  const output0 = rows(...[22, 32, 44, 16, 0.9, 0, 24, 44, 24, 44, 40, 0, 40].map((value) => [value]));
  const found = modelSaying({ detector: { labels: ['plate'], decoder, says: { output0 } } });
  const parameters = { mode: 'mask', fill_color: '#ff8000' };
  const { image, plates } = (await pipeline.create(found)({ pictures: sent(cut), parameters })) as Made;
  expect(plates[0]?.bbox.x).toBe(0);
  expect(plates[0]?.quad[3]).toEqual({ x: 0, y: about(40) });
  expect(at(image, 0, 39)).toEqual([255, 128, 0]);
});

test('render.plate replaces a plate with the requested text at the brightness of the original', async () => {
  const blank = await run({ mode: 'replace', fill_color: '#ffffff' });
  // The lightest places of the plate have 240 of 255 levels.
  expect(at(blank.image, 32, 32)).toEqual([240, 240, 240]);
  expect(spread(rowOf(blank.image, 32))).toBe(0);
  const written = await run({ mode: 'replace', replacement_text: 'H-1', fill_color: '#ffffff' });
  expect(written.replacement_text).toBe('H-1');
  expect(spread(rowOf(written.image, 32))).toBeGreaterThan(150);
  // Strokes of the H, of the dash only in the middle, and of the 1.
  const darkestAbout = (x: number, y: number) =>
    Math.min(...[-1, 0, 1].map((away) => at(written.image, x + away, y)[0] ?? 0));
  expect(darkestAbout(18, 28)).toBeLessThan(80);
  expect(at(written.image, 32, 27)[0]).toBeGreaterThan(220);
  expect(darkestAbout(31, 31)).toBeLessThan(130);
  expect(darkestAbout(42, 28)).toBeLessThan(80);
});

test('render.plate refuses a text with an unsupported character and names it', async () => {
  await expect(run({ mode: 'replace', replacement_text: 'Ж 1' })).rejects.toMatchObject({
    code: 'input_unreadable',
    param: 'replacement_text',
    message: expect.stringContaining('contains "Ж"') as unknown,
  });
});

test('render.plate returns a picture without a plate unchanged in its format', async () => {
  const { image, plates } = await run({}, 0.1, 'webp');
  expect(plates).toEqual([]);
  expect(image.pixels).toEqual(picture.pixels);
  expect(image.format).toBe('webp');
});

test('render.plate survives a plate that is said to be on a picture of one pixel', async () => {
  const pixel = { width: 1, height: 1, pixels: Uint8Array.of(9, 9, 9) };
  const parameters = { mode: 'replace', replacement_text: 'H-1' };
  const { image } = (await pipeline.create(model())({ pictures: sent(pixel), parameters })) as Made;
  expect([image.width, image.height, image.pixels.length]).toEqual([1, 1, 3]);
});

test('render.plate lists no plate of which the detector is not sure', async () => {
  const unsure = model(0.3);
  const sureOnly = { ...unsure, manifest: { ...unsure.manifest, thresholds: { plate: 0.5 } } };
  const { plates } = (await pipeline.create(sureOnly)({ pictures: sent(picture), parameters: {} })) as Made;
  expect(plates).toEqual([]);
});

test('render.plate blurs what may be a plate, and writes nothing on it', async () => {
  const unsure = model(0.4);
  const covering = { ...unsure, manifest: { ...unsure.manifest, thresholds: { plate: 0.5, cover: 0.3 } } };
  const parameters = { mode: 'replace', replacement_text: 'H-1', fill_color: '#ffffff' };
  const { image, plates } = (await pipeline.create(covering)({ pictures: sent(picture), parameters })) as Made;
  expect(plates).toHaveLength(1);
  expect(spread(rowOf(image, 32))).toBeLessThan(40);
  expect(mostApart(rowOf(image, 26), rowOf(image, 38))).toBeLessThanOrEqual(3);
});

describe('with a model that reads print', () => {
  const said = spelt('UH1F0F', 0.95);
  const seeing = (score: number) => ({
    ...model(score),
    uses: {
      text: printModel(
        [{ at: [10, 27], said }],
        Array.from({ length: 20 }, () => said),
      ),
    },
  });
  const covered = async (score: number) => {
    const pictures = sent(picture).map((each) => ({ ...each, format: 'jpg' as const }));
    return (await pipeline.create(seeing(score))({ pictures, parameters: { mode: 'mask' } })) as Made;
  };

  test('render.plate covers a plate that the detector finds, whole', async () => {
    const { plates } = await covered(0.9);
    const bbox = { x: about(8), y: about(24), width: about(48), height: about(16) };
    expect(plates).toEqual([expect.objectContaining({ bbox })]);
    expect(Object.keys(plates[0] ?? {})).toEqual(['confidence', 'bbox', 'quad']);
  });

  test('render.plate masks and writes on something without a number only if the detector is surer than of a road sign', async () => {
    const pictures = sent(picture).map((each) => ({ ...each, format: 'jpg' as const }));
    const parameters = { mode: 'mask', fill_color: '#ff8000' };
    const middle = async (score: number) => {
      const blank = { ...model(score), uses: { text: printModel([], []) } };
      const { image, plates } = (await pipeline.create(blank)({ pictures, parameters })) as Made;
      expect(plates).toHaveLength(1);
      return at(image, 32, 32);
    };
    expect(await middle(0.7)).toEqual([255, 128, 0]);
    expect(await middle(0.5)).not.toEqual([255, 128, 0]);
  });

  test('render.plate covers a plate that only the number on it tells', async () => {
    const { image, plates } = await covered(0.1);
    expect(plates).toMatchObject([{ confidence: expect.closeTo(0.95) }]);
    const [{ bbox } = { bbox: { x: 99, width: 0 } }] = plates;
    expect(bbox.x).toBeLessThanOrEqual(11);
    expect(bbox.x + bbox.width).toBeGreaterThanOrEqual(39);
    expect(at(image, 12, 32)).toEqual([38, 41, 44]);
    expect(at(image, 38, 32)).toEqual([38, 41, 44]);
  });

  test('render.plate covers what the detector is less sure of, from the confidence that the model states', async () => {
    const unsure = (score: number) => {
      const { manifest, ...rest } = model(score);
      const thresholds = { plate: 0.9, cover: 0.5 };
      return { ...rest, manifest: { ...manifest, thresholds }, uses: { text: printModel([], []) } };
    };
    const count = async (score: number) =>
      ((await pipeline.create(unsure(score))({ pictures: sent(picture), parameters: {} })) as Made).plates.length;
    expect(await count(0.6)).toBe(1);
    expect(await count(0.4)).toBe(0);
  });
});
