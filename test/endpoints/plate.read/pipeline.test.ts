/** The pipeline with a detector and a text recogniser of known outputs. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/plate.read/pipeline.ts';
import type { Result } from '../../../src/endpoints/plate.read/result.ts';
import { parseManifest } from '../../../src/inference/models/manifest.ts';
import type { Model, ModelInputs } from '../../../src/inference/models/model.ts';
import { type PlacedLine, printModel, type Said, spelt } from '../../inference/support/print-saying.ts';
import { modelSaying, picture, rows, sent } from '../../inference/support/saying-model.ts';

const manifest = parseManifest(
  readFileSync(new URL('../../../models/text-line/2026-11-21/model.json', import.meta.url), 'utf8'),
);
const characters = manifest.files['text-line']?.labels ?? [];

/** Returns these lines in turn, each character with this probability. */
function textSaying(lines: string[], probability = 0.9): Model {
  let next = 0;
  const floats = () => {
    const line = lines[next] ?? '';
    next += 1;
    const steps = line.split('').flatMap((character) => [characters.indexOf(character), 0]);
    const data = new Float32Array((steps.length + 1) * characters.length).fill(-20);
    [0, ...steps].forEach((index, step) => {
      data[step * characters.length + index] = Math.log(probability);
    });
    return { shape: [1, steps.length + 1, characters.length], data };
  };
  const unsaid = () => {
    throw new Error('it has one output');
  };
  return { manifest, uses: {}, run: async () => ({ shapeOf: unsaid, integers: unsaid, floats }) };
}

/** Two plates with four keypoints each: a small one at the left, a large one below it. */
const detector = {
  labels: ['plate'],
  decoder: { name: 'yolo-pose', output: 'output0', score: 0.5, overlap: 0.5, maximum: 10, keypoints: 4, values: 2 },
  says: {
    output0: rows(
      [10, 30],
      [10, 40],
      [16, 40],
      [6, 12],
      [0.95, 0.8],
      // x and y of the four corners of both plates.
      [2, 10],
      [7, 34],
      [18, 50],
      [8, 35],
      [18, 50],
      [13, 46],
      [2, 10],
      [12, 45],
    ),
  },
};

const run = async (model: Model) =>
  (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Result;

test('plate.read reads each plate, largest first, with its detected corners', async () => {
  const { plates } = await run(modelSaying({ detector }, { text: textSaying(['AB-12 Cm', 'X 9']) }));
  expect(plates.map(({ text }) => text)).toEqual(['AB12CM', 'X9']);
  expect(plates[0]).toMatchObject({
    confidence: expect.closeTo(0.8),
    country: null,
    region: null,
    bbox: { x: 10, y: 34, width: 40, height: 12 },
    quad: [
      { x: 10, y: 34 },
      { x: 50, y: 35 },
      { x: 50, y: 46 },
      { x: 10, y: 45 },
    ],
  });
  expect(plates[0]?.characters[0]).toEqual({ character: 'A', confidence: expect.closeTo(0.9) });
});

test('plate.read takes the confidence of the weakest character, and that of the detector for a plate that cannot be read', async () => {
  const { plates } = await run(modelSaying({ detector }, { text: textSaying([' - ', 'X9'], 0.4) }));
  expect(plates).toMatchObject([
    { text: null, confidence: expect.closeTo(0.8), characters: [], country: null, region: null },
    { text: 'X9', confidence: expect.closeTo(0.4) },
  ]);
});

test('plate.read rectifies an oblique plate before reading it', async () => {
  // It rises by 16 pixels over its width of 56; its upper half is white, its lower half black.
  const corners = [
    [4, 20],
    [60, 4],
    [60, 24],
    [4, 40],
  ] as const;
  const pixels = new Uint8Array(64 * 64 * 3).map((_, index) => {
    const [x, y] = [Math.floor(index / 3) % 64, Math.floor(index / 192)];
    return y + 0.5 - (20 - ((x + 0.5 - 4) * 16) / 56) < 10 ? 255 : 0;
  });
  const values = corners.flat().map((value) => [value]);
  const seen = { ...detector, says: { output0: rows([32], [22], [56], [36], [0.9], ...values) } };
  const received: ModelInputs[] = [];
  const text = textSaying(['X9']);
  const listening: Model = {
    ...text,
    run: (file, inputs) => {
      received.push(inputs);
      return text.run(file, inputs);
    },
  };
  const model = modelSaying({ detector: seen }, { text: listening });
  await pipeline.create(model)({ pictures: sent({ width: 64, height: 64, pixels }), parameters: {} });
  const { data = new Float32Array(), shape = [] } = received[0]?.images ?? {};
  const width = shape[3] ?? 0;
  const row = (y: number) => [...data].slice(y * width, y * width + 64).map(Number);
  expect(Math.min(...row(8))).toBeGreaterThan(0.99);
  expect(Math.max(...row(24))).toBeLessThan(0.01);
});

test('plate.read refuses a network whose keypoints are not four corners', () => {
  const decoder = { ...detector.decoder, keypoints: 2, values: 2 };
  const model = modelSaying({ detector: { ...detector, decoder } }, { text: textSaying([]) });
  expect(() => pipeline.create(model)).toThrow('files.detector.decoder.keypoints must be 4');
});

test('plate.read refuses a model without a line recogniser and names it', () => {
  expect(() => pipeline.create(modelSaying({ detector }))).toThrow('uses.text is missing from model.json');
});

/** A model that finds these lines of print, and reads them first, then the same again in every cut. */
function printReader(lines: readonly PlacedLine[], cuts: number): Model {
  return printModel(
    lines,
    [...lines, ...lines.flatMap((line) => Array.from({ length: cuts }, () => line))].map(({ said }) => said),
  );
}

test('plate.read finds the plates in print by their format, with their places, country and region', async () => {
  const model = printReader([{ at: [5, 5], said: spelt('UH1-FOF') }], 5);
  const { plates } = await run(model);
  expect(plates).toHaveLength(1);
  expect(plates[0]).toMatchObject({
    text: 'UH1F0F',
    confidence: expect.closeTo(0.9),
    country: { value: 'US' },
    region: { value: 'US-MO' },
    bbox: { x: 5, y: 5, width: 35, height: 10 },
  });
  expect(plates[0]?.characters.map(({ character }) => character).join('')).toBe('UH1F0F');
  expect(plates[0]?.quad).toHaveLength(4);
});

test('print without a plate is an empty list', async () => {
  const lines = [
    { at: [2, 5] as const, said: spelt('EXPLORER') },
    { at: [2, 30] as const, said: spelt('08:50:27') },
  ];
  const { plates, quality_issues } = await run(printReader(lines, 5));
  expect(plates).toEqual([]);
  expect(quality_issues?.map(({ reason }) => reason)).toContain('no_plate');
});

/** A plate from (2, 2) to (62, 32). */
const seesPlate = {
  ...detector,
  says: { output0: rows([32], [17], [60], [30], [0.9], [2], [2], [62], [2], [62], [32], [2], [32]) },
};
const CUTS = 5;
const everyCut = (said: readonly Said[]) => Array.from({ length: CUTS }, () => said);
const sees = (lines: readonly PlacedLine[], readings: readonly (readonly Said[])[]) =>
  modelSaying({ detector: seesPlate }, { text: printModel(lines, readings) });

test('plate.read reads the print on a found plate, with the place of the plate', async () => {
  const said = spelt('UH1F0F', 0.95);
  const { plates } = await run(sees([{ at: [10, 10], said }], [said, ...everyCut(said)]));
  expect(plates).toMatchObject([
    {
      text: 'UH1F0F',
      confidence: expect.closeTo(0.95),
      region: { value: 'US-MO' },
      bbox: { x: 2, y: 2, width: 60, height: 30 },
    },
  ]);
});

test('print on a found plate needs no format to be its number', async () => {
  const said = spelt('KCS1M', 0.95);
  expect(await run(printReader([{ at: [10, 10], said }], CUTS))).toMatchObject({ plates: [] });
  const { plates } = await run(sees([{ at: [10, 10], said }], [said, ...everyCut(said)]));
  expect(plates).toMatchObject([{ text: 'KCS1M', country: null, region: null }]);
});

test('plate.read looks closer at a found plate whose print is not clear', async () => {
  const [blurred, clear] = [spelt('U11FOF', 0.2), spelt('UH1F0F', 0.95)];
  const readings = [blurred, blurred, ...everyCut(blurred), clear, ...everyCut(clear)];
  const { plates } = await run(sees([{ at: [10, 10], said: blurred }], readings));
  expect(plates).toMatchObject([{ text: 'UH1F0F' }]);
});

test('a found plate without legible print has no text', async () => {
  const { plates } = await run(sees([], []));
  expect(plates).toMatchObject([{ text: null, confidence: expect.closeTo(0.9), characters: [] }]);
});

test('an uncertain detection is a plate if there is a number with a format on it', async () => {
  const unsure = (lines: readonly PlacedLine[], readings: readonly (readonly Said[])[]): Model => {
    const model = sees(lines, readings);
    return { ...model, manifest: { ...model.manifest, thresholds: { plate: 0.95 } } };
  };
  const said = spelt('UH1F0F', 0.95);
  expect(await run(unsure([], []))).toMatchObject({ plates: [] });
  const name = spelt('FZRULZ', 0.95);
  expect(await run(unsure([{ at: [10, 10], said: name }], [name, ...everyCut(name)]))).toMatchObject({ plates: [] });
  const { plates } = await run(unsure([{ at: [10, 10], said }], [said, ...everyCut(said)]));
  expect(plates).toMatchObject([{ text: 'UH1F0F', bbox: { width: 60 } }]);
});
