import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { refuseMixture } from '../../contracts/vocabulary/videos.ts';
import { videoDecoderFor } from '../shared/video-decoder.ts';
import { files, MINIMUM_PICTURES, parameters } from './request.ts';
import { result } from './result.ts';

export const render360 = {
  slug: 'render.360',
  title: '360° spin set',
  description:
    'Produces a 360° spin set from 8 to 72 walk-around pictures in any order, or from one video: ordered, level and ' +
    'evenly exposed frames, a manifest for a viewer, and the coverage. Send pictures directly or as uploads, a video as ' +
    'an upload. With a `scene`, each frame shows the vehicle in front of it. No view is invented: a side that was not photographed is a gap in `coverage`, and only the part of the ' +
    'circle that the frames cover is charged. If no frame can be produced, the job fails and nothing is charged. In test ' +
    'mode the frames and the manifest always show the surroundings; the field `scene` follows the request.',
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
    low_confidence: 'A spin set with an uncertain order: every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    incomplete_circle: 'The rear was not photographed: five frames, a gap, `is_complete` is false; charged in part.',
    from_video: 'Frames from a video: each states its moment in the video.',
  },
} as const satisfies EndpointContract;
