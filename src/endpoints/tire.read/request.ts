import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/pictures.ts';
import { TIRE_POSITIONS } from '../../contracts/vocabulary/tires.ts';

export const files = onePicture;

export const parameters = Type.Object(
  {
    position: Type.Optional(
      Type.Enum(TIRE_POSITIONS, {
        description: "Position on the vehicle; left and right are the driver's. Carried through to the result.",
      }),
    ),
  },
  { additionalProperties: false, examples: [{ position: 'front_left' }] },
);

export type Parameters = Type.Static<typeof parameters>;
