/** Says of a whole picture which classes it belongs to, with a classification network of any make. */
import { Type } from 'typebox';
import { clamp } from '../decoding/boxes.ts';
import { sigmoid, softmax } from '../decoding/classification.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { type DecoderSettings, decoderOf } from '../models/decoder-settings.ts';
import type { Model } from '../models/model.ts';
import { readSettings } from '../models/settings.ts';
import { labelsOf, requireClasses } from './classes.ts';
import { createPictureInput } from './picture-input.ts';

export interface Classification<Label extends string> {
  label: Label;
  /** 0 to 1 */
  confidence: number;
}

/** Likeliest first: with `softmax-classification` one class or none, with `sigmoid-classification` any number. */
export type Classifier<Label extends string> = (picture: RgbImage) => Promise<Classification<Label>[]>;

/**
 * The classifier in a file of the model, whose output is [1, classes].
 * @param vocabulary what the classes may be called in the file's `labels`; null there is a class to be passed over
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createClassifier<const Label extends string>(
  model: Model,
  file: string,
  vocabulary: readonly Label[],
): Classifier<Label> {
  const label = Type.Unsafe<Label | null>({ enum: [...vocabulary, null] });
  const entry = Type.Object({
    labels: labelsOf(label),
    decoder: decoderOf(['softmax-classification', 'sigmoid-classification']),
  });
  const settings = readSettings(model, Type.Object({ files: Type.Object({ [file]: entry }) })).files[file];
  if (!settings) throw new Error(`files.${file} is missing from model.json`);
  const { decoder, labels } = settings;
  const scoresOf = createScores(model, file, { classes: labels.length, decoder });

  return async (picture) => {
    const scores = await scoresOf(picture);
    const likely = labels
      .map((name, index) => ({ label: name, confidence: scores[index] ?? 0 }))
      .toSorted((a, b) => b.confidence - a.confidence)
      .slice(0, decoder.name === 'softmax-classification' ? 1 : undefined);
    // The likeliest class decides, also where it is one to be passed over.
    return likely.flatMap((each) =>
      each.label !== null && each.confidence >= decoder.score ? [{ ...each, label: each.label }] : [],
    );
  };
}

type ClassificationDecoder = Extract<DecoderSettings, { name: 'softmax-classification' | 'sigmoid-classification' }>;

/**
 * What a classifier says of each class, 0 to 1, in the order of its classes.
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createScores(
  model: Model,
  file: string,
  { classes, decoder }: { classes: number; decoder: ClassificationDecoder },
): (picture: RgbImage) => Promise<readonly number[]> {
  requireClasses(model, file, classes);
  const input = createPictureInput(model, file);
  const toScores = (values: Float32Array): ArrayLike<number> => {
    if (decoder.values === 'probabilities') return values;
    return decoder.name === 'softmax-classification' ? softmax(values) : values.map(sigmoid);
  };
  return async (picture) => {
    const outputs = await model.run(file, { [input.name]: input.prepare(picture).tensor });
    // Single precision may go beyond by a hair.
    return Array.from(toScores(outputs.floats(decoder.output).data), (score) => clamp(score, 0, 1));
  };
}

/** The same, of a file that a model may lack: then nothing is said. */
export function createOptionalClassifier<const Label extends string>(
  model: Model,
  file: string,
  vocabulary: readonly Label[],
): Classifier<Label> {
  return model.manifest.files[file] ? createClassifier(model, file, vocabulary) : async () => [];
}
