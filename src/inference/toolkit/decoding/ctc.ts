/**
 * Greedy decoding of connectionist temporal classification: best path, repeats merged, blanks dropped.
 * Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist Temporal Classification", ICML 2006, section 3.2.
 */
import type { FloatTensor } from '../../models/tensors.ts';
import { indexOfMaximum, softmax } from './classification.ts';

export interface TextLine {
  text: string;
  /** Each character of `text` with its probability, 0 to 1: the maximum over the steps that spell it. */
  characters: { character: string; probability: number }[];
}

export interface SpelledCharacter {
  character: string;
  probability: number;
  /** Begin and end of the steps that spell it, as shares of the line's width: 0 left, 1 right. */
  from: number;
  to: number;
  /** The next most probable characters at the character's most probable step, best first. */
  others: readonly { character: string; probability: number }[];
}

export interface SpelledLine extends TextLine {
  characters: SpelledCharacter[];
}

/** Alternatives per character. */
const OTHERS = 5;

/**
 * @param output [T, C] or [1, T, C]
 * @param labels C labels
 * @param blank index of the CTC blank, which spells nothing
 * @throws Error when the shape does not fit the labels or a single line
 */
export function decodeCtc(
  output: FloatTensor,
  labels: readonly string[],
  blank: number,
  values: CtcValues = 'log-probabilities',
): SpelledLine {
  const { data, shape } = values === 'logits' ? toProbabilities(output) : output;
  // Only of the characters that are spelt: most of the classes are nowhere.
  const toProbability = values === 'log-probabilities' ? Math.exp : (value: number) => value;
  const classes = shape.at(-1) ?? 0;
  const steps = shape.at(-2) ?? 0;
  if (classes !== labels.length) throw new Error(`a text line has ${classes} classes, its labels are ${labels.length}`);
  if (data.length !== steps * classes)
    throw new Error(`a text line of shape [${shape.join(', ')}] is not a single one`);

  const runs: { best: number; from: number; to: number; surest: number; probability: number }[] = [];
  let previous = blank;
  for (let step = 0; step < steps; step += 1) {
    const row = rowOf(data, step, classes);
    const best = indexOfMaximum(row);
    const probability = toProbability(row[best] as number);
    const last = runs.at(-1);
    if (best !== blank && best === previous && last) {
      last.to = step + 1;
      if (probability > last.probability) Object.assign(last, { probability, surest: step });
    } else if (best !== blank) runs.push({ best, from: step, to: step + 1, surest: step, probability });
    previous = best;
  }
  const characters = runs.map(({ best, from, to, surest, probability }) => ({
    character: labels[best] ?? '',
    probability,
    from: from / steps,
    to: to / steps,
    others: othersOf(rowOf(data, surest, classes), labels, [blank, best]).map(({ character, value }) => ({
      character,
      probability: toProbability(value),
    })),
  }));
  return { text: characters.map(({ character }) => character).join(''), characters };
}

function rowOf(data: Float32Array, step: number, classes: number): Float32Array {
  return data.subarray(step * classes, (step + 1) * classes);
}

function othersOf(row: Float32Array, labels: readonly string[], without: readonly number[]) {
  const likeliest: number[] = [];
  for (let index = 0; index < row.length; index += 1) {
    const value = row[index] as number;
    const least = likeliest[OTHERS - 1];
    // Before `without`: it leaves few of thousands.
    if ((least !== undefined && value <= (row[least] as number)) || without.includes(index)) continue;
    likeliest.push(index);
    likeliest.sort((a, b) => (row[b] as number) - (row[a] as number));
    likeliest.splice(OTHERS);
  }
  return likeliest.map((index) => ({ character: labels[index] ?? '', value: row[index] as number }));
}

/** The network's values per step and class. */
export type CtcValues = 'logits' | 'probabilities' | 'log-probabilities';

function toProbabilities({ data, shape }: FloatTensor): FloatTensor {
  const classes = shape.at(-1) ?? 0;
  const probabilities = new Float32Array(data.length);
  for (let start = 0; start < data.length; start += classes) {
    probabilities.set(softmax(data.subarray(start, start + classes)), start);
  }
  return { data: probabilities, shape };
}

/** Probability of the least certain character, 0 to 1; 0 for an empty line. */
export function weakestCharacter({ characters }: TextLine): number {
  return characters.length === 0 ? 0 : Math.min(...characters.map(({ probability }) => probability));
}
