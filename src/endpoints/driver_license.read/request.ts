import { Type } from 'typebox';
import type { FileInput } from '../../contracts/endpoint-contract.ts';
import { IMAGE_MEDIA_TYPES, MEGABYTE } from '../../contracts/media-limits.ts';
import { LICENSE_COUNTRIES, SUBDIVISION_PATTERN } from '../../contracts/vocabulary/countries.ts';

const MEDIA_TYPES = [...IMAGE_MEDIA_TYPES, 'image/avif'] as const;

/** In order: front, back. */
export const files = {
  field: 'images',
  minimum: 1,
  maximum: 2,
  mediaTypes: MEDIA_TYPES,
  directMediaTypes: MEDIA_TYPES,
  maximumBytes: 20 * MEGABYTE,
} as const satisfies FileInput;

export const parameters = Type.Object(
  {
    country_hint: Type.Optional(
      Type.Enum(LICENSE_COUNTRIES, {
        description: 'ISO 3166-1 alpha-2. The country to assume where the pictures are ambiguous.',
      }),
    ),
    region_hint: Type.Optional(
      Type.String({
        pattern: SUBDIVISION_PATTERN,
        description: 'ISO 3166-2. The state, province or region to assume, such as `US-CA`.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ country_hint: 'FR' }] },
);

export type Parameters = Type.Static<typeof parameters>;
