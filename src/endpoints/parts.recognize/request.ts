import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { minConfidence, viewHint } from '../../contracts/vocabulary/picture-schemas.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    max_alternatives: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 5, default: 3, description: 'Most other readings given for each part.' }),
    ),
    min_confidence: Type.Optional(minConfidence),
    view_hint: Type.Optional(viewHint),
  },
  { additionalProperties: false, examples: [{ max_alternatives: 3 }] },
);

export type Parameters = Type.Static<typeof parameters>;
