import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { refuseMixture } from '../../contracts/vocabulary/videos.ts';
import { videoDecoderFor } from '../shared/video-decoder.ts';
import { files, MINIMUM_PICTURES, parameters } from './request.ts';
import { result } from './result.ts';

export const renderVideo = {
  slug: 'render.video',
  title: 'Walk-around video',
  description:
    'Produces a walk-around video (MP4) from 3 to 60 pictures of a vehicle, sorted into walk-around order, or from one ' +
    'video, stabilised and cut. Send pictures directly or as uploads, a video as an upload. It adds no sound or text and ' +
    'shows only what was sent. If nothing can be shown, the job fails and nothing is charged.',
  family: 'render',
  preview: true,
  ...LONG,
  priceCredits: 1_500,
  files,
  parameters,
  refine: (request) => refuseMixture(request, MINIMUM_PICTURES),
  requires: videoDecoderFor,
  result,
  scenarios: {
    ...JOB_SCENARIOS,
    pictures_left_out: 'Two of five pictures are left out: one is blurred, one shows a different vehicle.',
  },
} as const satisfies EndpointContract;
