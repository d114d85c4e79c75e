/**
 * The schemas that results share. One coordinate convention holds everywhere: pixels of the picture as displayed (EXIF
 * orientation applied), origin at the top left, x to the right, y down. Only hotspots, which lie on pictures shown in any
 * size, are normalised, and say so in their names.
 */
import { type TSchema, Type } from 'typebox';

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** An object without other fields than these. */
export const closed = <Properties extends Record<string, TSchema>>(properties: Properties, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description !== undefined && { description }) });

export const confidence = Type.Number({ minimum: 0, maximum: 1, description: 'From 0 to 1.' });

const pixels = Type.Number({ minimum: 0 });

export const boundingBox = closed(
  { x: pixels, y: pixels, width: pixels, height: pixels },
  'In pixels of the picture as displayed (EXIF orientation applied), origin at the top left.',
);

export const point = closed({ x: pixels, y: pixels }, 'In pixels of the picture as displayed.');

/** A closed outline; the last point is joined to the first. */
export const polygon = Type.Array(point, {
  minItems: 3,
  description: 'Outline; the last point is joined to the first.',
});

/** The four corners of a plane thing seen at an angle: top left, top right, bottom right, bottom left, as it is read. */
export const quad = Type.Array(point, {
  minItems: 4,
  maxItems: 4,
  description: 'Corners as the thing is read: top left, top right, bottom right, bottom left.',
});

/** Which picture of a request with several something was seen on. */
export const imageIndex = Type.Integer({ minimum: 0, description: 'Index of the picture in the request, from 0.' });

/** A value of a closed list with the confidence in it. */
export const classified = <const Values extends readonly string[]>(values: Values) =>
  closed({ value: Type.Enum(values), confidence });

/** A text with a confidence for each of its characters. */
export const characters = Type.Array(closed({ character: Type.String({ minLength: 1, maxLength: 1 }), confidence }), {
  description: 'One entry a character, in reading order.',
});

export const MONEY_MINOR_UNITS = 'In the minor unit of `currency` (such as cents).';

/** An amount of money. */
export const amount = Type.Integer({ description: MONEY_MINOR_UNITS });

export const currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.' });

/** A file the service made. It is kept, and its signed `url` works, until `expires_at`. */
export const artefact = closed({
  id: Type.String({ pattern: '^art_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('artefact'),
  media_type: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  width: nullable(Type.Integer({ minimum: 1, description: 'In pixels; null for what is not a picture or video.' })),
  height: nullable(Type.Integer({ minimum: 1 })),
  url: Type.String({ format: 'uri', description: 'Signed; no API key is needed.' }),
  expires_at: Type.Integer({ description: 'Epoch seconds, UTC.' }),
});
