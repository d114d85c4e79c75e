import { Type } from 'typebox';
import { READING_DEFECTS, readingIssues } from '../../contracts/vocabulary/pictures.ts';
import { boundingBox, closed, confidence, nullable, quad } from '../../contracts/vocabulary/schemas.ts';
import { VIN_LOCATIONS } from '../../contracts/vocabulary/vehicles.ts';

const character = closed(
  {
    character: Type.String({ pattern: '^[A-HJ-NPR-Z0-9?]$', description: '`?` if it cannot be read.' }),
    confidence,
    bbox: boundingBox,
  },
  'Of a VIN that was read from a bar or matrix code alone, each character has the box of the whole code.',
);

const digit = Type.String({ pattern: '^[0-9X]$' });

const checkDigit = closed(
  {
    found: nullable(
      Type.String({
        pattern: '^[A-HJ-NPR-Z0-9]$',
        description: 'The ninth character as read; null if it cannot be read.',
      }),
    ),
    expected: nullable({
      ...digit,
      description: 'Computed from the other characters; null if one of them cannot be read.',
    }),
    valid: nullable(Type.Boolean({ description: 'Whether the two agree; null if either is null.' })),
  },
  'ISO 3779. Mandatory in North America and China; a European VIN may be valid without it. ' +
    'Null with `validate_check_digit: false`.',
);

const vin = closed({
  text: Type.String({
    pattern: '^[A-HJ-NPR-Z0-9?]{17}$',
    description: 'The seventeen characters; `?` for each that cannot be read.',
  }),
  confidence,
  characters: Type.Array(character, { minItems: 17, maxItems: 17, description: 'In reading order.' }),
  location: nullable(
    Type.Enum(VIN_LOCATIONS, {
      description: 'Where the VIN was read: as visible, otherwise the `location_hint`, otherwise null.',
    }),
  ),
  bbox: boundingBox,
  quad,
  check_digit: nullable(checkDigit),
});

export const result = closed({
  vin: nullable(vin),
  quality_issues: Type.Optional(readingIssues(...READING_DEFECTS, 'no_vin')),
});

export type Result = Type.Static<typeof result>;
