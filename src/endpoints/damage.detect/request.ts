import { Type } from 'typebox';
import { DAMAGE_TYPES, damageType } from '../../contracts/vocabulary/damages.ts';
import { minConfidence, onePicture, viewHint } from '../../contracts/vocabulary/pictures.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    damage_types: Type.Optional(
      Type.Array(damageType, {
        minItems: 1,
        maxItems: DAMAGE_TYPES.length,
        uniqueItems: true,
        description: 'The types of damage to look for. Defaults to every type.',
      }),
    ),
    min_confidence: Type.Optional(minConfidence),
    view_hint: Type.Optional(viewHint),
  },
  { additionalProperties: false, examples: [{ min_confidence: 0.2 }] },
);

export type Parameters = Type.Static<typeof parameters>;
