import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { refuseMixture } from '../../contracts/vocabulary/pictures-or-video.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, MINIMUM_PICTURES, parameters } from './request.ts';
import { result } from './result.ts';

export const renderVideo = {
  slug: 'render.video',
  title: 'Walk-around video',
  description:
    'Makes a walk-around video (MP4) of 3 to 60 pictures of a vehicle, in the order of a walk around it, or of one video, ' +
    'steadied and cut. Pictures may be sent directly or as uploads, a video as an upload. It adds neither sound nor text, ' +
    'and shows nothing that was not sent. If nothing can be shown the job fails and costs nothing.',
  family: 'render',
  preview: true,
  ...LONG,
  priceCredits: 1_500,
  files,
  parameters,
  refine: (request) => refuseMixture(request, MINIMUM_PICTURES),
  result,
  scenarios: {
    ...JOB_SCENARIOS,
    pictures_left_out: 'Two of five pictures are not shown: one is blurred, one is of another vehicle.',
  },
} as const satisfies EndpointContract;
