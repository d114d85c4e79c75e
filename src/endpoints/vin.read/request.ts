import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { VIN_LOCATIONS } from '../../contracts/vocabulary/vehicles.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    validate_check_digit: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether the ISO 3779 check digit is computed and compared. `false`: `check_digit` is null.',
      }),
    ),
    location_hint: Type.Optional(
      Type.Enum(VIN_LOCATIONS, { description: 'Where the VIN sits, to assume where the picture does not tell.' }),
    ),
  },
  { additionalProperties: false, examples: [{ validate_check_digit: true, location_hint: 'windscreen' }] },
);

export type Parameters = Type.Static<typeof parameters>;
