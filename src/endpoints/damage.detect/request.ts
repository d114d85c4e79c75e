import { Type } from 'typebox';
import { damageType } from '../../contracts/vocabulary/damage-schemas.ts';
import { DAMAGE_TYPES } from '../../contracts/vocabulary/damages.ts';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { minConfidence, viewHint } from '../../contracts/vocabulary/picture-schemas.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    damage_types: Type.Optional(
      Type.Array(damageType, {
        minItems: 1,
        maxItems: DAMAGE_TYPES.length,
        uniqueItems: true,
        description: 'The types of damage to look for; every type when left out.',
      }),
    ),
    min_confidence: Type.Optional(minConfidence),
    view_hint: Type.Optional(viewHint),
  },
  { additionalProperties: false, examples: [{ min_confidence: 0.2 }] },
);

export type Parameters = Type.Static<typeof parameters>;
