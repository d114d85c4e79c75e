import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { TIRE_POSITIONS } from '../../contracts/vocabulary/tires.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    position: Type.Optional(
      Type.Enum(TIRE_POSITIONS, {
        description: "Where on the vehicle the tire is, the driver's left and right. Carried through to the result.",
      }),
    ),
  },
  { additionalProperties: false, examples: [{ position: 'front_left' }] },
);

export type Parameters = Type.Static<typeof parameters>;
