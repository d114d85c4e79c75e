import { Type } from 'typebox';
import type { FileInput } from '../../contracts/endpoint-contract.ts';
import { IMAGE_MEDIA_TYPES, MULTIPART_IMAGE_BYTES } from '../../contracts/media-limits.ts';

export const files = {
  field: 'image',
  minimum: 1,
  maximum: 1,
  mediaTypes: IMAGE_MEDIA_TYPES,
  directMediaTypes: IMAGE_MEDIA_TYPES,
  maximumBytes: MULTIPART_IMAGE_BYTES,
} as const satisfies FileInput;

export const parameters = Type.Object(
  {
    read_warning_lights: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether warning lights are read. `false` answers an empty list.' }),
    ),
    unit_hint: Type.Optional(
      Type.Enum(['km', 'mi'], { description: 'The odometer unit to assume where the cluster shows none.' }),
    ),
  },
  { additionalProperties: false, examples: [{ read_warning_lights: true, unit_hint: 'km' }] },
);

export type Parameters = Type.Static<typeof parameters>;
