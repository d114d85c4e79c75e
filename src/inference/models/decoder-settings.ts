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
const keypoints = Type.Integer({ minimum: 1 });
/** Of each keypoint: x and y, and with 3 its visibility. */
const values = Type.Enum([2, 3]);
/** What a network gives: values before or after its softmax or sigmoid. */
const given = Type.Optional(Type.Enum(['logits', 'probabilities']));

/** What black and white are: two numbers, or every picture would be the same. */
export const shades = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, uniqueItems: true });

const settings = <Name extends string, Fields extends Record<string, TSchema>>(name: Name, fields: Fields) =>
  Type.Object({ name: Type.Literal(name), ...fields }, { additionalProperties: false });

const decoders = [
  settings('yolo-detection', { output, score, overlap, maximum }),
  settings('yolo-end-to-end', { output, score }),
  settings('yolo-end-to-end-segmentation', { output, prototypes: output, score }),
  settings('yolo-end-to-end-pose', { output, score, keypoints, values }),
  settings('yolo-end-to-end-obb', { output, score }),
  settings('yolo-segmentation', { output, prototypes: output, score, overlap, maximum }),
  settings('yolo-pose', { output, score, overlap, maximum, keypoints, values }),
  settings('yolo-obb', { output, score, overlap, maximum }),
  settings('detr', { boxes: output, logits: output, score, maximum }),
  settings('detr-softmax', { boxes: output, logits: output, score, maximum }),
  settings('ultralytics-rtdetr', { output, score }),
  settings('detr-with-postprocessor', { boxes: output, scores: output, labels: output, sizeInput: output, score }),
  settings('semantic-segmentation', { output, score, minimumPixels: Type.Integer({ minimum: 1 }) }),
  settings('db-text', { output, threshold: probability, score, unclip: Type.Number({ minimum: 0 }) }),
  /** The likeliest class, if its score suffices. Values: `logits`, when left out. */
  settings('softmax-classification', { output, score, values: given }),
  /** Every class whose score suffices. Values: `logits`, when left out. */
  settings('sigmoid-classification', { output, score, values: given }),
  /** Values: `probabilities`, when left out. `spread`: the least becomes 0 and the greatest 1, in each picture. */
  settings('alpha-matte', { output, values: given, spread: Type.Optional(Type.Boolean()) }),
  settings('image-to-image', {
    output,
    /** Linear: how much larger the output is than the input. */
    scale: Type.Integer({ minimum: 1 }),
    /** By how much neighbouring tiles of a picture overlap, in pixels of the input. */
    overlap: Type.Integer({ minimum: 0 }),
    /** What black and white are in the output. */
    range: shades,
  }),
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
