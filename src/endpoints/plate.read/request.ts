import { Type } from 'typebox';
import { COUNTRY_PATTERN } from '../../contracts/vocabulary/countries.ts';
import { onePicture } from '../../contracts/vocabulary/pictures.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    country_hint: Type.Optional(
      Type.String({
        pattern: COUNTRY_PATTERN,
        description:
          'ISO 3166-1 alpha-2. The country to assume between countries whose plates look alike. It never overrides what ' +
          'a plate shows.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ country_hint: 'DE' }] },
);

export type Parameters = Type.Static<typeof parameters>;
