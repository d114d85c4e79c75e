import type { EndpointContract, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { RENDER } from '../../contracts/service-classes.ts';
import { TASK_QUEUES } from '../../contracts/task-queues.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

const GAN_CREDITS = 100;
const FINE_GRAIN_CREDITS = 300;

export const renderEnhance = {
  slug: 'render.enhance',
  title: 'Quality improver',
  description:
    'Improves a picture and reports which operations were applied, with their parameters and quality scores before and ' +
    'after. `fine_grain` costs 300 credits instead of 100. Vehicle damage is never retouched. A picture that needs no ' +
    'improvement is returned unchanged in the requested format and is not charged. `GET /v1/endpoints` lists the enhancers and operations ' +
    'that live mode offers: an `enhancer_model` that is not available is refused, and so is a list of `operations` if none is.',
  family: 'render',
  preview: true,
  ...RENDER,
  inferenceTaskQueue: TASK_QUEUES.inferenceHeavy,
  priceCredits: GAN_CREDITS,
  price,
  files,
  parameters,
  modelParameters: ['enhancer_model', 'operations'],
  result,
  scenarios: {
    ...JOB_SCENARIOS,
    nothing_to_improve:
      'A picture that needs no improvement: no operation except a requested enlargement is applied, and otherwise no charge.',
    every_operation:
      'Every operation is applied, each with its parameters; `upscale` only with an `upscale_factor` of 2 or 4.',
    would_do_harm: 'A blur that cannot be undone: requested `deblur` and `sharpen` are skipped.',
  },
} as const satisfies EndpointContract;

function price({ parameters: given }: ValidRequest): number {
  const { enhancer_model } = given as Parameters;
  return enhancer_model === 'fine_grain' ? FINE_GRAIN_CREDITS : GAN_CREDITS;
}
