/** Lines of print with a reader of any make: what it is shown, and what its output spells. */
import { expect, test } from 'vitest';
import { parseManifest } from '../../../../src/inference/models/manifest.ts';
import type { Model, ModelInputs } from '../../../../src/inference/models/model.ts';
import type { FloatTensor } from '../../../../src/inference/models/tensors.ts';
import { softmax } from '../../../../src/inference/toolkit/decoding/classification.ts';
import { decodeCtc } from '../../../../src/inference/toolkit/decoding/ctc.ts';
import { createStraightLineReader } from '../../../../src/inference/toolkit/text/line-reader.ts';

const LABELS = ['', 'A', 'B', ' '];
/** Steps: A, A, blank, B. */
const LOGITS: FloatTensor = {
  shape: [1, 4, 4],
  data: Float32Array.of(0, 3, 0, 0, 0, 4, 0, 0, 5, 0, 0, 0, 0, 0, 2, 0),
};
const RULES = { marginX: 0.05, marginY: 0.1, minimumWidth: 32, maximumWidth: 64, multipleOf: 8 };

/** A recogniser as PP-OCR exports it, smaller. */
function recogniser(changes: Record<string, unknown> = {}, asked: ModelInputs[] = []): Model {
  const file = {
    path: 'recogniser.onnx',
    sha256: '0'.repeat(64),
    inputs: {
      x: {
        shape: ['N', 3, 16, 'W'],
        layout: 'NCHW',
        dtype: 'float32',
        colour: 'BGR',
        range: [0, 1],
        mean: [0.5, 0.5, 0.5],
        std: [0.5, 0.5, 0.5],
        pad: 0.5,
      },
    },
    outputs: { steps: { shape: ['N', 'T', 4] } },
    labels: LABELS,
    decoder: { name: 'ctc', output: 'steps', values: 'logits', blank: 0 },
    ...changes,
  };
  const manifest = parseManifest(
    JSON.stringify({
      model: 'recogniser',
      release: '2026-01-01',
      task: 'text-line-reading',
      description: 'Reads.',
      license: 'Apache-2.0',
      files: { 'text-line': file },
      rules: RULES,
      warmUp: {},
    }),
  );
  return {
    manifest,
    uses: {},
    run: async (_, inputs) => {
      asked.push(inputs);
      return { shapeOf: () => LOGITS.shape, floats: () => LOGITS, integers: () => [] };
    },
  };
}

function fileOf({ manifest }: Model) {
  const file = manifest.files['text-line'];
  if (!file) throw new Error('it has its file');
  return file;
}

test("a line is scaled to the input's height and padded on the right", async () => {
  const asked: ModelInputs[] = [];
  const { read, margins } = createStraightLineReader(recogniser({}, asked));
  // White, 20 × 10: it becomes 32 × 16; and 10 × 10 becomes 16 × 16, with as much grey beside it.
  for (const width of [20, 10]) {
    await read({ width, height: 10, pixels: new Uint8Array(width * 10 * 3).fill(255) });
  }
  expect(margins).toEqual({ marginX: 0.05, marginY: 0.1 });
  expect(asked.map(({ x }) => x?.shape)).toEqual([
    [1, 3, 16, 32],
    [1, 3, 16, 32],
  ]);
  expect(asked.map(({ x }) => [x?.data[0], x?.data[15], x?.data[16]].map((value) => Number(value).toFixed(2)))).toEqual(
    [
      ['1.00', '1.00', '1.00'],
      ['1.00', '1.00', '0.00'],
    ],
  );
});

test("the line reader spells one character per run, with the softmax's probability", async () => {
  const { read } = createStraightLineReader(recogniser());
  const { text, characters } = await read({ width: 20, height: 10, pixels: new Uint8Array(600) });
  expect(text).toBe('AB');
  expect(characters.map(({ probability }) => probability)).toEqual([
    expect.closeTo(Math.exp(4) / (Math.exp(4) + 3), 5),
    expect.closeTo(Math.exp(2) / (Math.exp(2) + 3), 5),
  ]);
});

test('logits, probabilities and their logarithms spell the same', () => {
  const { shape, data } = LOGITS;
  const classes = shape.at(-1) ?? 0;
  const probabilities = new Float32Array(data.length);
  for (let start = 0; start < data.length; start += classes) {
    probabilities.set(softmax(data.subarray(start, start + classes)), start);
  }
  const lines = [
    decodeCtc(LOGITS, LABELS, 0, 'logits'),
    decodeCtc({ shape, data: probabilities }, LABELS, 0, 'probabilities'),
    decodeCtc({ shape, data: probabilities.map(Math.log) }, LABELS, 0, 'log-probabilities'),
  ];
  expect(lines.map(({ text }) => text)).toEqual(['AB', 'AB', 'AB']);
  expect(lines[1]?.characters[1]?.probability).toBeCloseTo(lines[0]?.characters[1]?.probability ?? 0, 5);
});

test.each([
  [
    'lines of any height',
    { inputs: { x: { ...fileOf(recogniser()).inputs.x, shape: ['N', 3, 'H', 'W'] } } },
    /files\.text-line\.inputs\.x\.shape must be .* with a fixed height/,
  ],
  [
    'fields that are not read',
    { inputs: { x: { ...fileOf(recogniser()).inputs.x, resize: 'stretch' } } },
    /files\.text-line\.inputs\.x must not have the property 'resize', only shape, .* pad$/,
  ],
  ['too few labels', { labels: LABELS.slice(1) }, /files\.text-line\.labels must name 4 classes, .* not 3/],
  [
    'a decoder of another kind',
    { decoder: { name: 'alpha-matte', output: 'steps' } },
    /files\.text-line\.decoder\.name must be one of ctc/,
  ],
])('the line reader refuses %s and names the field', (_, changes, reason) => {
  expect(() => createStraightLineReader(recogniser(changes))).toThrow(reason);
});
