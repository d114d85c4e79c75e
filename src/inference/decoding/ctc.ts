/**
 * Greedy decoding of connectionist temporal classification: best path, repeats merged, blanks dropped.
 * Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist Temporal Classification", ICML 2006, section 3.2.
 */
import type { FloatTensor } from '../models/model.ts';
import { softmax } from './classification.ts';

export interface TextLine {
  text: string;
  /** Probability of each character of `text`: the highest over the run of steps that spells it. */
  characters: { character: string; probability: number }[];
}

/**
 * @param logProbabilities [T, C] or [1, T, C], natural logarithms
 * @param labels C labels; the one at `blank` is never spelled
 */
export function decodeCtc(logProbabilities: FloatTensor, labels: readonly string[], blank: number): TextLine {
  const { data, shape } = logProbabilities;
  const classes = shape.at(-1) ?? 0;
  const steps = shape.at(-2) ?? 0;
  if (classes !== labels.length) throw new Error(`a text line has ${classes} classes, its labels are ${labels.length}`);
  if (data.length !== steps * classes)
    throw new Error(`a text line of shape [${shape.join(', ')}] is not a single one`);

  const characters: TextLine['characters'] = [];
  let previous = blank;
  for (let step = 0; step < steps; step += 1) {
    const row = data.subarray(step * classes, (step + 1) * classes);
    const best = indexOfMaximum(row);
    const probability = Math.exp(row[best] ?? Number.NEGATIVE_INFINITY);
    const last = characters.at(-1);
    if (best !== blank && best === previous && last) last.probability = Math.max(last.probability, probability);
    else if (best !== blank) characters.push({ character: labels[best] ?? '', probability });
    previous = best;
  }
  return { text: characters.map(({ character }) => character).join(''), characters };
}

/** What a network gives for each class of each step. */
export type CtcValues = 'logits' | 'probabilities' | 'log-probabilities';

/** @param output [1, T, C] of any of these → natural logarithms of probabilities, [1, T, C] */
export function toLogProbabilities({ data, shape }: FloatTensor, values: CtcValues): FloatTensor {
  if (values === 'log-probabilities') return { data, shape };
  if (values === 'probabilities') return { data: data.map(Math.log), shape };
  const classes = shape.at(-1) ?? 0;
  const logarithms = new Float32Array(data.length);
  for (let start = 0; start < data.length; start += classes) {
    logarithms.set(softmax(data.subarray(start, start + classes)).map(Math.log), start);
  }
  return { data: logarithms, shape };
}

/** The least certain character decides how far a line can be trusted; 0 for an empty line. */
export function weakestCharacter({ characters }: TextLine): number {
  return characters.length === 0 ? 0 : Math.min(...characters.map(({ probability }) => probability));
}

/** The first of equals, as NumPy's argmax. */
export function indexOfMaximum(values: ArrayLike<number>): number {
  let best = 0;
  for (let index = 1; index < values.length; index += 1) {
    if ((values[index] ?? 0) > (values[best] ?? 0)) best = index;
  }
  return best;
}
