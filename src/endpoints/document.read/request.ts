import { Type } from 'typebox';
import { COUNTRY_PATTERN } from '../../contracts/vocabulary/countries.ts';
import { DOCUMENT_TYPES } from '../../contracts/vocabulary/documents.ts';
import { pictures } from '../../contracts/vocabulary/pictures.ts';

export const files = pictures(1, 4);

export const parameters = Type.Object(
  {
    document_type_hint: Type.Optional(
      Type.Enum(DOCUMENT_TYPES, { description: 'The type to assume where the pictures are ambiguous.' }),
    ),
    country_hint: Type.Optional(
      Type.String({
        pattern: COUNTRY_PATTERN,
        description: 'ISO 3166-1 alpha-2. The country to assume where the pictures are ambiguous.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ document_type_hint: 'registration_certificate', country_hint: 'DE' }] },
);

export type Parameters = Type.Static<typeof parameters>;
