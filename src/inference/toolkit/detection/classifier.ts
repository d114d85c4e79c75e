/** Classifies whole pictures with any classification network. */
import { Type } from 'typebox';
import { type DecoderSettings, decoderOf } from '../../models/decoder-settings.ts';
import type { Model } from '../../models/model.ts';
import { readSettings } from '../../models/settings.ts';
import { clamp } from '../decoding/boxes.ts';
import { sigmoid, softmax } from '../decoding/classification.ts';
import { createPictureInput } from '../images/picture-input.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { labelsOf, requireClasses } from './classes.ts';

export interface Classification<Label extends string> {
  label: Label;
  /** 0 to 1 */
  confidence: number;
}

/** Most probable first: at most one class with `softmax-classification`, any number with `sigmoid-classification`. */
export type Classifier<Label extends string> = (picture: RgbImage) => Promise<Classification<Label>[]>;

/**
 * The classifier in a file of the model, whose output is [1, classes].
 * @param vocabulary allowed names in the file's `labels`, where null marks a class to ignore
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
    // The most probable class decides even if it is ignored.
    return likely.flatMap((each) =>
      each.label !== null && each.confidence >= decoder.score ? [{ ...each, label: each.label }] : [],
    );
  };
}

type ClassificationDecoder = Extract<DecoderSettings, { name: 'softmax-classification' | 'sigmoid-classification' }>;

/**
 * A classifier's score for each class, 0 to 1, in the network's order.
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
    // Single precision may exceed 1 slightly.
    return Array.from(toScores(outputs.floats(decoder.output).data), (score) => clamp(score, 0, 1));
  };
}

/** Like `createClassifier`; without the file, it returns no classes. */
export function createOptionalClassifier<const Label extends string>(
  model: Model,
  file: string,
  vocabulary: readonly Label[],
): Classifier<Label> {
  return model.manifest.files[file] ? createClassifier(model, file, vocabulary) : async () => [];
}
