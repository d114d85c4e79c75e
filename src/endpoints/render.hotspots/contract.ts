import type { EndpointContract, RequestProblem, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { RENDER } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const renderHotspots = {
  slug: 'render.hotspots',
  title: 'Hotspots',
  description:
    'Places hotspots with labels on the damages and parts of a vehicle, on one picture or on the frames of a spin set. ' +
    'Places are normalised to 0–1 of the width and height, so that they hold in any size. It draws nothing on the ' +
    'pictures; for the same hotspots frame by frame, as a viewer shows them, see `viewer.hotspots`.',
  family: 'render',
  preview: true,
  ...RENDER,
  priceCredits: 100,
  files,
  parameters,
  refine,
  jobReferences: [
    { parameter: 'job_id', endpoints: ['render.360'] },
    { parameter: 'damage_job_id', endpoints: ['damage.detect', 'damage.severity', 'inspections'] },
  ],
  result,
  scenarios: {
    empty_result: 'Neither a damage nor a part to be seen: empty lists.',
    low_confidence: 'Hotspots in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    undamaged: 'A vehicle in good order: hotspots on parts only.',
  },
} as const satisfies EndpointContract;

function refine({ parameters: given, files: sent }: ValidRequest): RequestProblem | null {
  const { job_id } = given as Parameters;
  if (job_id !== undefined && sent.length > 0) {
    return { param: 'job_id', message: 'Send an image or the "job_id" of a spin set, not both.' };
  }
  if (job_id === undefined && sent.length === 0) {
    const message = 'Send an "image" (in JSON an "input_ref"), or the "job_id" of a spin set.';
    return { param: 'image', message, isMissing: true };
  }
  return null;
}
