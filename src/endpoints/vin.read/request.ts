import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/pictures.ts';
import { VIN_LOCATIONS } from '../../contracts/vocabulary/vehicles.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    validate_check_digit: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether to compute and compare the ISO 3779 check digit. With `false`, `check_digit` is null.',
      }),
    ),
    location_hint: Type.Optional(
      Type.Enum(VIN_LOCATIONS, { description: 'The location to assume if the picture does not show it.' }),
    ),
  },
  { additionalProperties: false, examples: [{ validate_check_digit: true, location_hint: 'windscreen' }] },
);

export type Parameters = Type.Static<typeof parameters>;
