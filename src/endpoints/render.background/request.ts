import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
import { hexColor, outputFormat, SCENES } from '../../contracts/vocabulary/renders.ts';

export const files = onePicture;

export const DEFAULT_SCENE = 'studio_white';

export const parameters = Type.Object(
  {
    scene: Type.Optional(
      Type.Enum(SCENES, {
        description: `What the vehicle is put in front of. Without \`scene\` and \`background_color\`: \`${DEFAULT_SCENE}\`.`,
      }),
    ),
    background_color: Type.Optional(hexColor('A plain background instead of a `scene`.')),
    shadow: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether the vehicle is given a shadow on the ground.' }),
    ),
    output_format: Type.Optional(outputFormat),
  },
  { additionalProperties: false, examples: [{ scene: DEFAULT_SCENE, output_format: 'webp' }] },
);

export type Parameters = Type.Static<typeof parameters>;
