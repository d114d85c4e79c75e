import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/pictures.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    read_warning_lights: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether to read warning lights. `false` returns null for them.' }),
    ),
    unit_hint: Type.Optional(
      Type.Enum(['km', 'mi'], { description: 'The odometer unit to assume if the cluster shows none.' }),
    ),
  },
  { additionalProperties: false, examples: [{ read_warning_lights: true, unit_hint: 'km' }] },
);

export type Parameters = Type.Static<typeof parameters>;
