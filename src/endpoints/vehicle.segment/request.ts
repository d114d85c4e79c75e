import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/pictures.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    include_matte: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether to return the matte of the main vehicle. With `false`, `matte` is null.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ include_matte: true }] },
);

export type Parameters = Type.Static<typeof parameters>;
