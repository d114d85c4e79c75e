import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/pictures.ts';
import {
  ENHANCE_OPERATIONS,
  ENHANCER_MODELS,
  outputFormat,
  UPSCALE_FACTORS,
} from '../../contracts/vocabulary/renders.ts';

export const files = onePicture;

const setting = (defaultValue: number, description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: defaultValue, description }));

export const parameters = Type.Object(
  {
    enhancer_model: Type.Optional(
      Type.Enum(ENHANCER_MODELS, {
        default: 'GAN',
        description:
          '`GAN`: the faster enhancer. `fine_grain`: a tiled diffusion enhancer of higher quality, at a higher price.',
      }),
    ),
    operations: Type.Optional(
      Type.Array(Type.Enum(ENHANCE_OPERATIONS), {
        minItems: 1,
        maxItems: ENHANCE_OPERATIONS.length,
        uniqueItems: true,
        description: 'The operations to consider. By default the model picks those that the picture needs.',
      }),
    ),
    upscale_factor: Type.Optional(
      Type.Integer({
        enum: UPSCALE_FACTORS,
        default: 1,
        description:
          'Linear factor. `1` keeps the size, even if `operations` lists `upscale`. `2` and `4` enlarge the picture, even ' +
          'if `operations` does not list it.',
      }),
    ),
    strength: setting(0.5, 'Strength of each operation: 0 barely visible, 1 the maximum of the model.'),
    fidelity: setting(0.8, 'Fidelity to the original: 1 adds no detail, 0 leaves the model free.'),
    output_format: Type.Optional(outputFormat),
  },
  { additionalProperties: false, examples: [{ operations: ['denoise', 'sharpen'], upscale_factor: 2 }] },
);

export type Parameters = Type.Static<typeof parameters>;
