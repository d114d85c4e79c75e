/**
 * The closed list of decoders that `model.json` can name, with their settings. Each decoder's file in
 * `src/inference/toolkit/decoding/` states its tensors and coordinates.
 */
import { type Static, type TSchema, Type } from 'typebox';

const output = Type.String({ minLength: 1 });
const probability = Type.Number({ minimum: 0, maximum: 1 });

/** Minimum score of a result. */
const score = probability;
/** Intersection over union above which the weaker of two results of one class is dropped. */
const overlap = probability;
/** Most results to keep, best first. */
const maximum = Type.Integer({ minimum: 1 });
const keypoints = Type.Integer({ minimum: 1 });
/** Values per keypoint: x and y, and with 3 also the visibility. */
const values = Type.Enum([2, 3]);
/** Whether the network outputs values before or after its softmax or sigmoid. */
const given = Type.Optional(Type.Enum(['logits', 'probabilities']));

/** The values of black and white. They differ: otherwise every picture would be the same. */
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
  settings('semantic-segmentation', {
    output,
    score,
    minimumPixels: Type.Integer({ minimum: 1 }),
    /** Classes share regions: the pixels whose named classes have at least this probability together. */
    joined: Type.Optional(probability),
  }),
  settings('db-text', { output, threshold: probability, score, unclip: Type.Number({ minimum: 0 }) }),
  /** The most probable class, if it reaches `score`. `values` defaults to `logits`. */
  settings('softmax-classification', { output, score, values: given }),
  /** Every class that reaches `score`. `values` defaults to `logits`. */
  settings('sigmoid-classification', { output, score, values: given }),
  /** `values` defaults to `probabilities`. `spread` rescales each matte to a minimum of 0 and a maximum of 1. */
  settings('alpha-matte', { output, values: given, spread: Type.Optional(Type.Boolean()) }),
  settings('image-to-image', {
    output,
    /** Linear ratio of output size to input size. */
    scale: Type.Integer({ minimum: 1 }),
    /** Overlap of neighbouring tiles, in pixels of the input. */
    overlap: Type.Integer({ minimum: 0 }),
    /** The values of black and white in the output. */
    range: shades,
  }),
  settings('ctc', {
    output,
    values: Type.Enum(['logits', 'probabilities', 'log-probabilities']),
    /** Index of the CTC blank class. */
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
