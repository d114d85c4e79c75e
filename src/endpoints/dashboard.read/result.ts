import { Type } from 'typebox';

const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const confidence = Type.Number({ minimum: 0, maximum: 1, description: 'From 0 to 1.' });

/** In pixels of the picture as displayed (EXIF orientation applied), origin at the top left. */
const boundingBox = Type.Object(
  {
    x: Type.Number({ minimum: 0 }),
    y: Type.Number({ minimum: 0 }),
    width: Type.Number({ minimum: 0 }),
    height: Type.Number({ minimum: 0 }),
  },
  {
    additionalProperties: false,
    description: 'In pixels of the picture as displayed (EXIF orientation applied), origin at the top left.',
  },
);

const odometer = Type.Object(
  {
    value: Type.Number({ minimum: 0, description: 'The reading, in `unit`.' }),
    unit: nullable(
      Type.Enum(['km', 'mi'], { description: 'As shown, else the `unit_hint`, else null when neither tells.' }),
    ),
    display_type: Type.Enum(['digital', 'analogue'], { description: 'An electronic display, or mechanical drums.' }),
    confidence,
    bbox: boundingBox,
  },
  { additionalProperties: false },
);

const warningLight = Type.Object(
  {
    code: Type.String({ description: 'Stable name of the lamp, such as `check_engine`.' }),
    label: Type.String({ description: 'The lamp in plain English.' }),
    severity: Type.Enum(['info', 'advisory', 'stop'], {
      description: '`info`: a tell-tale; `advisory`: amber, have it checked; `stop`: red, stop safely.',
    }),
    confidence,
    bbox: boundingBox,
  },
  { additionalProperties: false },
);

export const result = Type.Object(
  {
    cluster_lit: nullable(
      Type.Boolean({ description: 'Whether the instrument cluster is switched on; null when no cluster is seen.' }),
    ),
    odometer: nullable(odometer),
    warning_lights: Type.Array(warningLight, { description: 'Lamps that are lit, most confident first.' }),
    fuel_level_percent: nullable(
      Type.Number({ minimum: 0, maximum: 100, description: 'Null when no fuel gauge can be read.' }),
    ),
  },
  { additionalProperties: false },
);

export type Result = Type.Static<typeof result>;
