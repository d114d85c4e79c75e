import { type TSchema, Type } from 'typebox';
import { ENHANCE_OPERATIONS, ENHANCER_MODELS, UPSCALE_FACTORS } from '../../contracts/vocabulary/renders.ts';
import { artefact, closed, confidence, polygon } from '../../contracts/vocabulary/schemas.ts';

const amount = Type.Number({ minimum: 0, maximum: 1, description: '0: none, 1: the maximum of the model.' });
const degrees = (description: string) => Type.Number({ minimum: -90, maximum: 90, description });

const applied = <Name extends string, Properties extends Record<string, TSchema>>(name: Name, properties: Properties) =>
  closed({
    operation: Type.Literal(name),
    confidence: { ...confidence, description: 'Confidence that the picture needed the operation, from 0 to 1.' },
    parameters: closed(properties),
  });

const appliedOperation = Type.Union([
  applied('denoise', { amount }),
  applied('sharpen', { amount, radius_pixels: Type.Number({ exclusiveMinimum: 0 }) }),
  applied('deblur', {
    amount,
    motion_pixels: Type.Number({
      minimum: 0,
      description: 'Length of the motion blur; 0 if the picture was out of focus.',
    }),
  }),
  applied('upscale', { factor: Type.Integer({ enum: UPSCALE_FACTORS }) }),
  applied('exposure_correction', {
    exposure_ev: Type.Number({ description: 'Change in stops; positive is brighter.' }),
    shadows_ev: Type.Number({ description: 'Additional change in stops in the dark areas.' }),
  }),
  applied('white_balance', {
    from_kelvin: Type.Integer({
      minimum: 1000,
      maximum: 40000,
      description: 'Colour temperature of the original light.',
    }),
    to_kelvin: Type.Integer({ minimum: 1000, maximum: 40000 }),
    tint: Type.Number({ minimum: -1, maximum: 1, description: 'Negative towards green, positive towards magenta.' }),
  }),
  applied('reflection_removal', {
    regions: Type.Array(polygon, { description: 'Where reflections were removed, in pixels of the original picture.' }),
  }),
  applied('perspective_correction', {
    roll_degrees: degrees('Clockwise rotation.'),
    pitch_degrees: degrees('Tilt; positive if verticals that converged upwards were straightened.'),
  }),
]);

const skippedOperation = closed({
  operation: Type.Enum(ENHANCE_OPERATIONS),
  reason: Type.Enum(['not_needed', 'would_do_harm', 'upscale_factor_is_1', 'not_supported'], {
    description:
      '`would_do_harm`: it would have damaged or invented detail. `not_supported`: the installed model cannot do it.',
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
  'Scores from 0 to 1; 1 is best.',
);

const size = { width: Type.Integer({ minimum: 1 }), height: Type.Integer({ minimum: 1 }) };

export const result = closed({
  image: { ...artefact, description: 'The improved picture, in `output_format`.' },
  enhancer_model: Type.Enum(ENHANCER_MODELS),
  operations_applied: Type.Array(appliedOperation, { description: 'In the order in which they were applied.' }),
  operations_skipped: Type.Array(skippedOperation, {
    description: 'Requested `operations` that were not applied. Empty without `operations`.',
  }),
  before: closed(
    { ...size, quality },
    'The original picture. Sizes are in pixels as displayed. For an enlargement the scores are those of plain interpolation ' +
      'to the new size, so that both sides compare.',
  ),
  after: closed({ ...size, quality }, 'The improved picture.'),
});

export type Result = Type.Static<typeof result>;
