/** Says of a whole picture which classes it belongs to, with a classification network of any make. */
import { Type } from 'typebox';
import { sigmoid, softmax } from '../decoding/classification.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { decoderOf } from '../models/decoder-settings.ts';
import type { Model } from '../models/model.ts';
import { readSettings } from '../models/settings.ts';
import { requireClasses } from './classes.ts';
import { createPictureInput } from './picture-input.ts';

export interface Classification<Label extends string> {
  label: Label;
  /** 0 to 1 */
  confidence: number;
}

/** Likeliest first: with `softmax-classification` one class or none, with `sigmoid-classification` any number. */
export type Classifier<Label extends string> = (picture: RgbImage) => Promise<Classification<Label>[]>;

/**
 * The classifier in a file of the model, whose output is [1, classes] before the softmax or sigmoid.
 * @param vocabulary what the classes may be called in the file's `labels`; null there is a class to be passed over
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createClassifier<const Label extends string>(
  model: Model,
  file: string,
  vocabulary: readonly Label[],
): Classifier<Label> {
  const label = Type.Unsafe<Label | null>({ enum: [...vocabulary, null] });
  const decoder = decoderOf(['softmax-classification', 'sigmoid-classification']);
  const entry = Type.Object({ labels: Type.Array(label, { minItems: 1 }), decoder });
  const settings = readSettings(model, Type.Object({ files: Type.Object({ [file]: entry }) })).files[file];
  if (!settings) throw new Error(`files.${file} is missing from model.json`);
  requireClasses(model, file, settings.labels.length);
  const input = createPictureInput(model, file);
  const isExclusive = settings.decoder.name === 'softmax-classification';

  return async (picture) => {
    const outputs = await model.run(file, { [input.name]: input.prepare(picture).tensor });
    const logits = outputs.floats(settings.decoder.output).data;
    const scores = isExclusive ? softmax(logits) : Float64Array.from(logits, sigmoid);
    const likely = settings.labels
      .map((name, index) => ({ label: name, confidence: scores[index] ?? 0 }))
      .toSorted((a, b) => b.confidence - a.confidence)
      .slice(0, isExclusive ? 1 : undefined);
    // The likeliest class decides, also where it is one to be passed over.
    return likely.flatMap((each) =>
      each.label !== null && each.confidence >= settings.decoder.score ? [{ ...each, label: each.label }] : [],
    );
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
