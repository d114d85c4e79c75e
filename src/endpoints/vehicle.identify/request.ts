import { Type } from 'typebox';
import { pictures } from '../../contracts/vocabulary/pictures.ts';

export const files = pictures(1, 8);

export const parameters = Type.Object(
  {
    max_candidates: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10, default: 5, description: 'Maximum number of candidates.' }),
    ),
  },
  { additionalProperties: false, examples: [{ max_candidates: 3 }] },
);

export type Parameters = Type.Static<typeof parameters>;
