import { Type } from 'typebox';
import { minConfidence, onePicture, viewHint } from '../../contracts/vocabulary/pictures.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    max_alternatives: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 5, default: 3, description: 'Maximum number of alternatives per part.' }),
    ),
    min_confidence: Type.Optional(minConfidence),
    view_hint: Type.Optional(viewHint),
  },
  { additionalProperties: false, examples: [{ max_alternatives: 3 }] },
);

export type Parameters = Type.Static<typeof parameters>;
