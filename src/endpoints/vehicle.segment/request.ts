import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    include_matte: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether the matte of the main vehicle is made. `false`: null.' }),
    ),
  },
  { additionalProperties: false, examples: [{ include_matte: true }] },
);

export type Parameters = Type.Static<typeof parameters>;
