import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/pictures.ts';
import { hexColor, outputFormat, SCENES } from '../../contracts/vocabulary/renders.ts';

export const files = onePicture;

export const DEFAULT_SCENE = 'studio_white';

export const parameters = Type.Object(
  {
    scene: Type.Optional(
      Type.Enum(SCENES, {
        description: `The background scene. Defaults to \`${DEFAULT_SCENE}\` without a \`background_color\`.`,
      }),
    ),
    background_color: Type.Optional(hexColor('A plain background colour instead of a `scene`.')),
    shadow: Type.Optional(Type.Boolean({ default: true, description: 'Whether to add a shadow on the ground.' })),
    output_format: Type.Optional(outputFormat),
  },
  { additionalProperties: false, examples: [{ scene: DEFAULT_SCENE, output_format: 'webp' }] },
);

export type Parameters = Type.Static<typeof parameters>;
