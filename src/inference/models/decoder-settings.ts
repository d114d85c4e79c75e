/**
 * The decoders that `model.json` can name, each with its settings: the closed list. Which tensors each one reads, in which
 * coordinates, is said where it is written, in `src/inference/decoding/`.
 */
import { type Static, type TSchema, Type } from 'typebox';

const output = Type.String({ minLength: 1 });
const probability = Type.Number({ minimum: 0, maximum: 1 });

/** Least score of what is kept. */
const score = probability;
/** Intersection over union above which the weaker of two of a class is dropped. */
const overlap = probability;
/** Most that is kept, the best first. */
const maximum = Type.Integer({ minimum: 1 });

const settings = <Name extends string, Fields extends Record<string, TSchema>>(name: Name, fields: Fields) =>
  Type.Object({ name: Type.Literal(name), ...fields }, { additionalProperties: false });

const decoders = [
  settings('yolo-detection', { output, score, overlap, maximum }),
  settings('yolo-end-to-end', { output, score }),
  settings('yolo-segmentation', { output, prototypes: output, score, overlap, maximum }),
  settings('yolo-pose', {
    output,
    score,
    overlap,
    maximum,
    keypoints: Type.Integer({ minimum: 1 }),
    /** Of each keypoint: x and y, and with 3 its visibility. */
    values: Type.Enum([2, 3]),
  }),
  settings('yolo-obb', { output, score, overlap, maximum }),
  settings('detr', { boxes: output, logits: output, score, maximum }),
  settings('detr-with-postprocessor', { boxes: output, scores: output, labels: output, sizeInput: output, score }),
  settings('semantic-segmentation', { output, score, minimumPixels: Type.Integer({ minimum: 1 }) }),
  settings('db-text', { output, threshold: probability, score, unclip: Type.Number({ minimum: 0 }) }),
  /** The likeliest class, if its score suffices. */
  settings('softmax-classification', { output, score }),
  /** Every class whose score suffices. */
  settings('sigmoid-classification', { output, score }),
  settings('alpha-matte', { output }),
  settings('ctc', {
    output,
    values: Type.Enum(['logits', 'probabilities', 'log-probabilities']),
    /** The class that spells nothing. */
    blank: Type.Integer({ minimum: 0 }),
  }),
] as const;

export type DecoderSettings = Static<(typeof decoders)[number]>;
export type DecoderName = DecoderSettings['name'];

/** The settings of one of these decoders. */
export function decoderOf<const Name extends DecoderName>(names: readonly Name[]) {
  return Type.Unsafe<Extract<DecoderSettings, { name: Name }>>({
    type: 'object',
    properties: { name: Type.String() },
    required: ['name'],
    discriminator: { propertyName: 'name' },
    oneOf: decoders.filter(({ properties }) => names.some((name) => name === properties.name.const)),
  });
}

/** The settings of any decoder. */
export const decoder = decoderOf(decoders.map(({ properties }) => properties.name.const));
