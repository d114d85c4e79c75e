import { Type } from 'typebox';
import { boundingBox, closed, confidence, nullable, quad } from '../../contracts/vocabulary/schemas.ts';
import { VIN_LOCATIONS } from '../../contracts/vocabulary/vehicles.ts';

const character = closed({
  character: Type.String({ pattern: '^[A-HJ-NPR-Z0-9?]$', description: '`?` where it cannot be read.' }),
  confidence,
  bbox: boundingBox,
});

const digit = Type.String({ pattern: '^[0-9X]$' });

const checkDigit = closed(
  {
    found: nullable(
      Type.String({
        pattern: '^[A-HJ-NPR-Z0-9]$',
        description: 'The ninth character as read; null where it cannot be read.',
      }),
    ),
    expected: nullable({ ...digit, description: 'Computed from the others; null where one of them cannot be read.' }),
    valid: nullable(Type.Boolean({ description: 'Whether they agree; null where one of them is null.' })),
  },
  'ISO 3779. Compulsory in North America and China; a European VIN may disagree and still be right. ' +
    'Null with `validate_check_digit: false`.',
);

const vin = closed({
  text: Type.String({
    pattern: '^[A-HJ-NPR-Z0-9?]{17}$',
    description: 'The seventeen characters; `?` for one that cannot be read.',
  }),
  confidence,
  characters: Type.Array(character, { minItems: 17, maxItems: 17, description: 'In reading order.' }),
  location: nullable(
    Type.Enum(VIN_LOCATIONS, {
      description: 'Where it was read from: as seen, else the `location_hint`, else null when neither tells.',
    }),
  ),
  bbox: boundingBox,
  quad,
  check_digit: nullable(checkDigit),
});

export const result = closed({ vin: nullable(vin) });

export type Result = Type.Static<typeof result>;
