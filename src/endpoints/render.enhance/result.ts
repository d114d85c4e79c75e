import { type TSchema, Type } from 'typebox';
import { ENHANCE_OPERATIONS, ENHANCER_MODELS, UPSCALE_FACTORS } from '../../contracts/vocabulary/renders.ts';
import { artefact, closed, confidence, polygon } from '../../contracts/vocabulary/schemas.ts';

const amount = Type.Number({ minimum: 0, maximum: 1, description: '0 nothing, 1 as far as the model can.' });
const degrees = (description: string) => Type.Number({ minimum: -90, maximum: 90, description });

const applied = <Name extends string, Properties extends Record<string, TSchema>>(name: Name, properties: Properties) =>
  closed({
    operation: Type.Literal(name),
    confidence: { ...confidence, description: 'That the picture needed it, from 0 to 1.' },
    parameters: closed(properties),
  });

const appliedOperation = Type.Union([
  applied('denoise', { amount }),
  applied('sharpen', { amount, radius_pixels: Type.Number({ exclusiveMinimum: 0 }) }),
  applied('deblur', {
    amount,
    motion_pixels: Type.Number({ minimum: 0, description: 'Length of the motion blur; 0 where the focus was off.' }),
  }),
  applied('upscale', { factor: Type.Integer({ enum: UPSCALE_FACTORS }) }),
  applied('exposure_correction', {
    exposure_ev: Type.Number({ description: 'In stops; positive is brighter.' }),
    shadows_ev: Type.Number({ description: 'Of the dark parts, beside that.' }),
  }),
  applied('white_balance', {
    from_kelvin: Type.Integer({ minimum: 1000, maximum: 40000, description: 'Light as it was in the picture.' }),
    to_kelvin: Type.Integer({ minimum: 1000, maximum: 40000 }),
    tint: Type.Number({ minimum: -1, maximum: 1, description: 'Towards green below 0, towards magenta above.' }),
  }),
  applied('reflection_removal', {
    regions: Type.Array(polygon, { description: 'Where reflections were removed, on the picture that was sent.' }),
  }),
  applied('perspective_correction', {
    roll_degrees: degrees('Turned by, clockwise.'),
    pitch_degrees: degrees('Tilted by; positive: verticals that converged upwards were set upright.'),
  }),
]);

const skippedOperation = closed({
  operation: Type.Enum(ENHANCE_OPERATIONS),
  reason: Type.Enum(['not_needed', 'would_do_harm', 'upscale_factor_is_1', 'not_supported'], {
    description:
      '`would_do_harm`: it would have damaged or invented detail. `not_supported`: the model that answered cannot do it.',
  }),
});

const score = Type.Number({ minimum: 0, maximum: 1 });

const quality = closed(
  {
    overall: score,
    sharpness: score,
    noise: { ...score, description: '1: free of noise.' },
    exposure: score,
    color: { ...score, description: '1: neutral light, no cast.' },
  },
  'Scores from 0 to 1; 1 is the best of each.',
);

const size = { width: Type.Integer({ minimum: 1 }), height: Type.Integer({ minimum: 1 }) };

export const result = closed({
  image: { ...artefact, description: 'The improved picture, in `output_format`.' },
  enhancer_model: Type.Enum(ENHANCER_MODELS),
  operations_applied: Type.Array(appliedOperation, { description: 'In the order in which they were applied.' }),
  operations_skipped: Type.Array(skippedOperation, {
    description: 'Of the `operations` of the request, those that were not applied. Empty without `operations`.',
  }),
  before: closed({ ...size, quality }, 'The picture that was sent, in pixels as displayed.'),
  after: closed({ ...size, quality }, 'The improved picture.'),
});

export type Result = Type.Static<typeof result>;
