import type { EndpointContract, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { RENDER } from '../../contracts/service-classes.ts';
import { TASK_QUEUES } from '../../contracts/task-queues.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

const GAN_CREDITS = 100;
const FINE_GRAIN_CREDITS = 300;

export const renderEnhance = {
  slug: 'render.enhance',
  title: 'Quality improver',
  description:
    'Improves a picture and reports which operations were actually applied, with their parameters and with quality scores ' +
    'from before and after. `fine_grain` costs 300 credits instead of 100. Damages are no flaws of a picture: they are ' +
    'not retouched. A picture that needs nothing comes back as it is, in the format that was asked for.',
  family: 'render',
  preview: true,
  ...RENDER,
  inferenceTaskQueue: TASK_QUEUES.inferenceHeavy,
  priceCredits: GAN_CREDITS,
  price,
  files,
  parameters,
  result,
  scenarios: {
    ...JOB_SCENARIOS,
    nothing_to_improve: 'A picture that needs nothing: no operation is applied, unless it is enlarged.',
    every_operation: 'Every operation was applied, each with its parameters; `upscale` as `upscale_factor` asks.',
    would_do_harm: 'A blur that cannot be undone: `deblur` and `sharpen` are skipped where they were asked for.',
  },
} as const satisfies EndpointContract;

function price({ parameters: given }: ValidRequest): number {
  const { enhancer_model } = given as Parameters;
  return enhancer_model === 'fine_grain' ? FINE_GRAIN_CREDITS : GAN_CREDITS;
}
