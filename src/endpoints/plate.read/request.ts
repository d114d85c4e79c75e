import { Type } from 'typebox';
import { COUNTRY_PATTERN } from '../../contracts/vocabulary/countries.ts';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    country_hint: Type.Optional(
      Type.String({
        pattern: COUNTRY_PATTERN,
        description:
          'ISO 3166-1 alpha-2. The country to expect: it decides between countries whose plates look alike, and ' +
          'never against what a plate shows.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ country_hint: 'DE' }] },
);

export type Parameters = Type.Static<typeof parameters>;
