import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const partsSegment = {
  slug: 'parts.segment',
  title: 'Part segmenter',
  description:
    'Outlines the exterior parts on a picture: polygons, bounding box and area fraction for each. With `include_mask` ' +
    'it also returns a PNG of the same size, in which the pixels of each part have its `mask_value` and all others are ' +
    '0. Glass and wheels are separate parts. Objects in front of a part are excluded from its outline.',
  family: 'parts',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No part in the picture: an empty list and no mask.',
    low_confidence: 'Parts in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    occluded_part: 'A vehicle behind a lamp post, which splits some parts into two outlines.',
  },
} as const satisfies EndpointContract;
