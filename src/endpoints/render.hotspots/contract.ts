import type { EndpointContract, RequestProblem, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { RENDER } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const renderHotspots = {
  slug: 'render.hotspots',
  title: 'Hotspots',
  description:
    'Places labelled hotspots on the damages and parts of a vehicle, on one picture or on the frames of a spin set. ' +
    'Positions are normalised to 0–1 of the width and height, so they hold at any display size. The pictures themselves ' +
    'are not changed. For the same hotspots per frame, as a viewer needs them, use `viewer.hotspots`. ' +
    'In test mode the damages of `damage_job_id` are placed on their parts of the example vehicle.',
  family: 'render',
  preview: true,
  ...RENDER,
  priceCredits: 100,
  files,
  parameters,
  refine,
  jobReferences: [
    { parameter: 'job_id', endpoints: ['render.360'] },
    {
      parameter: 'damage_job_id',
      endpoints: ['damage.detect', 'damage.severity', 'inspections'],
      samePicture: ['damage.detect', 'damage.severity'],
    },
  ],
  result,
  scenarios: {
    empty_result: 'No damage and no part visible: empty lists.',
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
