import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { refuseMixture } from '../../contracts/vocabulary/pictures-or-video.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, MINIMUM_PICTURES, parameters } from './request.ts';
import { result } from './result.ts';

export const render360 = {
  slug: 'render.360',
  title: '360° spin set',
  description:
    'Makes a spin set of 8 to 72 pictures of a walk around a vehicle, in any order, or of one video of it: frames that ' +
    'are ordered, level and evenly exposed, with a manifest for a viewer and an account of what is missing. Pictures may ' +
    'be sent directly or as uploads, a video as an upload. It makes no view up: a side that was not photographed is a gap ' +
    'in `coverage`. If no frame can be made the job fails and costs nothing.',
  family: 'render',
  preview: true,
  ...LONG,
  priceCredits: 1_500,
  files,
  parameters,
  refine: (request) => refuseMixture(request, MINIMUM_PICTURES),
  result,
  scenarios: {
    low_confidence: 'A spin set whose order is a guess: every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    incomplete_circle: 'The rear was not photographed: five frames, a gap, `is_complete` is false.',
    from_video: 'Frames of a video: each names the moment it was taken from.',
  },
} as const satisfies EndpointContract;
