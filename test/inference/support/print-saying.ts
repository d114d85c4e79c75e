/** Models that see lines of print where a test says, and read there what it says. */
import { parseManifest } from '../../../src/inference/models/manifest.ts';
import type { Model, ModelInputs } from '../../../src/inference/models/model.ts';
import type { FloatTensor } from '../../../src/inference/models/tensors.ts';
import type { PrintedCharacter, PrintedLine } from '../../../src/inference/toolkit/text/text-lines.ts';
import { modelSaying, rows } from './saying-model.ts';

/** What a reader thinks of one character; the others with their probabilities. */
export interface Said {
  character: string;
  probability: number;
  others?: Record<string, number>;
}

const LABELS = ['', ...Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)), ' '];
const HEIGHT = 16;

/** Each with this probability. */
export function spelt(text: string, probability = 0.9): Said[] {
  return Array.from(text, (character) => ({ character, probability }));
}

/**
 * Reads one line after the other, each character at a step of its own, between two that say nothing.
 * @param asked gets what it is shown
 */
export function readerSaying(lines: readonly (readonly Said[])[], asked: ModelInputs[] = []): Model {
  const manifest = parseManifest(
    JSON.stringify({
      model: 'reader',
      release: '2026-01-01',
      task: 'text-line-reading',
      description: 'Reads what it is told.',
      license: 'Apache-2.0',
      files: {
        'text-line': {
          path: 'reader.onnx',
          sha256: '0'.repeat(64),
          inputs: {
            x: {
              shape: ['N', 3, HEIGHT, 'W'],
              layout: 'NCHW',
              dtype: 'float32',
              colour: 'RGB',
              range: [0, 1],
              mean: [0, 0, 0],
              std: [1, 1, 1],
              pad: 0,
            },
          },
          outputs: { steps: { shape: ['N', 'T', LABELS.length] } },
          labels: LABELS,
          decoder: { name: 'ctc', output: 'steps', values: 'probabilities', blank: 0 },
        },
      },
      rules: { marginX: 0, marginY: 0, minimumWidth: 1, maximumWidth: 640, multipleOf: 1 },
      warmUp: {},
    }),
  );
  let next = 0;
  return {
    manifest,
    uses: {},
    run: async (_, inputs) => {
      asked.push(inputs);
      const steps = stepsOf(lines[next] ?? []);
      next += 1;
      return { shapeOf: () => steps.shape, floats: () => steps, integers: () => [] };
    },
  };
}

function stepsOf(line: readonly Said[]): FloatTensor {
  const silent = [1, ...Array<number>(LABELS.length - 1).fill(0)];
  const said = line.flatMap(({ character, probability, others = {} }) => {
    const likely = new Map([[character, probability], ...Object.entries(others)]);
    return [LABELS.map((label) => likely.get(label) ?? 0), silent];
  });
  const all = [silent, ...said];
  return { shape: [1, all.length, LABELS.length], data: Float32Array.from(all.flat()) };
}

/** Corners of a line: top left, top right, bottom right, bottom left. */
export type Corners = readonly (readonly [x: number, y: number])[];

/** An upright line. */
export function lineAt(x: number, y: number, width: number, height: number): Corners {
  return [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ];
}

/** A detector that finds these lines, and the reader that it uses. */
export function modelSeeing(lines: readonly Corners[], reader: Model): Model {
  const boxes = lines.map((corners) => {
    const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top, 0.9, ...corners.flat()];
  });
  // One column a thing; without any, one that scores nothing.
  const columns = boxes.length > 0 ? boxes : [Array<number>(13).fill(0)];
  const output = rows(...Array.from({ length: 13 }, (_, row) => columns.map((column) => column[row] ?? 0)));
  const decoder = {
    name: 'yolo-pose',
    output: 'output0',
    score: 0.5,
    overlap: 0.9,
    maximum: 50,
    keypoints: 4,
    values: 2,
  };
  const model = modelSaying({ detector: { labels: ['text'], decoder, says: { output0: output } } }, { text: reader });
  return { ...model, manifest: { ...model.manifest, uses: { text: 'reader' } } };
}

/** A line of print whose characters are 5 × 10 pixels each. */
export interface PlacedLine {
  at: readonly [x: number, y: number];
  said: readonly Said[];
}

/** A model that finds these lines of print, and reads what it is told in this order. */
export function printModel(lines: readonly PlacedLine[], readings: readonly (readonly Said[])[]): Model {
  const reader = readerSaying(readings);
  const seeing = modelSeeing(
    lines.map(({ at: [x, y], said }) => lineAt(x, y, said.length * 5, 10)),
    reader,
  );
  const files = { ...seeing.manifest.files, ...reader.manifest.files };
  return {
    ...seeing,
    manifest: { ...seeing.manifest, task: 'print-reading', files, rules: reader.manifest.rules ?? {} },
    run: (file, inputs) => (file === 'text-line' ? reader : seeing).run(file, inputs),
  };
}

/** A line as it was read, whose characters are each one unit wide from its left end. */
export function printedAt(x: number, y: number, said: readonly Said[], height = 2): PrintedLine {
  const place = (index: number): PrintedCharacter['quad'] => [
    { x: x + index, y },
    { x: x + index + 1, y },
    { x: x + index + 1, y: y + height },
    { x: x + index, y: y + height },
  ];
  return {
    quad: [place(0)[0], place(said.length - 1)[1], place(said.length - 1)[2], place(0)[3]],
    characters: said.map(({ character, probability, others = {} }, index) => ({
      character,
      probability,
      others: Object.entries(others).map(([other, likelihood]) => ({ character: other, probability: likelihood })),
      quad: place(index),
    })),
  };
}
