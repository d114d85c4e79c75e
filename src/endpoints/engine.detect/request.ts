import { Type } from 'typebox';
import { minConfidence, onePicture } from '../../contracts/vocabulary/pictures.ts';

export const files = onePicture;

export const parameters = Type.Object(
  { min_confidence: Type.Optional(minConfidence) },
  { additionalProperties: false, examples: [{ min_confidence: 0.2 }] },
);

export type Parameters = Type.Static<typeof parameters>;
