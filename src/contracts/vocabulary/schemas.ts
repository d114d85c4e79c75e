/**
 * Schemas shared by results. Coordinates are in pixels of the picture as displayed (EXIF orientation applied), origin at
 * the top left, x to the right, y down. Only hotspots are normalised; their field names say so.
 */
import { type TSchema, Type } from 'typebox';

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** An object that allows no other properties. */
export const closed = <Properties extends Record<string, TSchema>>(properties: Properties, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description !== undefined && { description }) });

export const confidence = Type.Number({ minimum: 0, maximum: 1, description: 'From 0 to 1.' });

const pixels = Type.Number({ minimum: 0 });

export const boundingBox = closed(
  { x: pixels, y: pixels, width: pixels, height: pixels },
  'In pixels of the picture as displayed (EXIF orientation applied), origin at the top left.',
);

export const point = closed({ x: pixels, y: pixels }, 'In pixels of the picture as displayed.');

export const polygon = Type.Array(point, {
  minItems: 3,
  description: 'Closed outline: the last point connects to the first.',
});

export const quad = Type.Array(point, {
  minItems: 4,
  maxItems: 4,
  description: 'Corners in reading orientation: top left, top right, bottom right, bottom left.',
});

export const imageIndex = Type.Integer({ minimum: 0, description: 'Index of the picture in the request, from 0.' });

/** A value of a closed list with its confidence. */
export const classified = <Values extends string[]>(values: readonly [...Values]) =>
  closed({ value: Type.Enum(values), confidence });

export const characters = Type.Array(closed({ character: Type.String({ minLength: 1, maxLength: 1 }), confidence }), {
  description: 'One entry per character, in reading order.',
});

export const MONEY_MINOR_UNITS = 'In the minor unit of `currency` (such as cents).';

export const amount = Type.Integer({ description: MONEY_MINOR_UNITS });

export const currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.' });

/** A file that the service produced. The file and its signed `url` are available until `expires_at`. */
export const artefact = closed({
  id: Type.String({ pattern: '^art_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('artefact'),
  media_type: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  width: nullable(
    Type.Integer({ minimum: 1, description: 'In pixels; null unless the file is a picture or a video.' }),
  ),
  height: nullable(Type.Integer({ minimum: 1 })),
  url: Type.String({ format: 'uri', description: 'Signed: works without an API key until `expires_at`.' }),
  expires_at: Type.Integer({ description: 'Epoch seconds, UTC.' }),
});
