import { Type } from 'typebox';
import { onePicture } from '../../contracts/vocabulary/file-inputs.ts';
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
          '`GAN`: the faster. `fine_grain`: a tiled diffusion enhancer of higher quality, at a higher price.',
      }),
    ),
    operations: Type.Optional(
      Type.Array(Type.Enum(ENHANCE_OPERATIONS), {
        minItems: 1,
        maxItems: ENHANCE_OPERATIONS.length,
        uniqueItems: true,
        description: 'The operations to consider; when left out, the model picks what the picture needs.',
      }),
    ),
    upscale_factor: Type.Optional(
      Type.Integer({
        enum: UPSCALE_FACTORS,
        default: 1,
        description:
          'Linear. `1`: same-size enhancement only, also where `operations` names `upscale`. `2` and `4` enlarge the ' +
          'picture, also where `operations` does not name it.',
      }),
    ),
    strength: setting(0.5, 'How far each operation goes: 0 barely to be seen, 1 as far as the model can.'),
    fidelity: setting(0.8, 'How close to the original: 1 adds no detail that is not in it, 0 leaves the model free.'),
    output_format: Type.Optional(outputFormat),
  },
  { additionalProperties: false, examples: [{ operations: ['denoise', 'sharpen'], upscale_factor: 2 }] },
);

export type Parameters = Type.Static<typeof parameters>;
