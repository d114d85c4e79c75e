import { Type } from 'typebox';
import { chosenParts } from '../../contracts/vocabulary/parts.ts';
import { minConfidence, onePicture, viewHint } from '../../contracts/vocabulary/pictures.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    parts: Type.Optional(chosenParts),
    include_exploded_view: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether to return the exploded view as a picture as well. It shows every part that was found.',
      }),
    ),
    min_confidence: Type.Optional(minConfidence),
    view_hint: Type.Optional(viewHint),
  },
  { additionalProperties: false, examples: [{ include_exploded_view: true }] },
);

export type Parameters = Type.Static<typeof parameters>;
