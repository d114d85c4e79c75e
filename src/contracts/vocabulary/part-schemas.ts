/** How results name a part, and how requests choose among parts. */
import { Type } from 'typebox';
import { PARTS, SIDES } from './parts.ts';
import { confidence, nullable } from './schemas.ts';

export const partName = Type.Enum(PARTS);

export const side = nullable(
  Type.Enum(SIDES, {
    description:
      "The driver's left or right; `none` for a part that exists once; null where the picture does not tell.",
  }),
);

/** The fields by which an item of a result says which part it is. */
export const namedPart = { part: partName, side, confidence };

export const chosenParts = Type.Array(partName, {
  minItems: 1,
  maxItems: PARTS.length,
  uniqueItems: true,
  description: 'The parts to look for; every part when left out.',
});
