import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { chosenParts } from '../../contracts/vocabulary/part-schemas.ts';
import { minConfidence, viewHint } from '../../contracts/vocabulary/picture-schemas.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    parts: Type.Optional(chosenParts),
    include_exploded_view: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether the exploded view is given as a picture too. It shows every part that was found.',
      }),
    ),
    min_confidence: Type.Optional(minConfidence),
    view_hint: Type.Optional(viewHint),
  },
  { additionalProperties: false, examples: [{ include_exploded_view: true }] },
);

export type Parameters = Type.Static<typeof parameters>;
