import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const partsSegment = {
  slug: 'parts.segment',
  title: 'Part segmenter',
  description:
    'Outlines the exterior parts that a picture shows: polygons, bounding box and share of the picture for each, ' +
    'and with `include_mask` one PNG of the size of the picture in which the pixels of a part have its `mask_value` ' +
    'and all others are 0. Glass and wheels are parts of their own; what hides a part is not part of it.',
  family: 'parts',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No part in the picture: an empty list, no mask.',
    low_confidence: 'Parts in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    occluded_part: 'A vehicle behind a lamp post, which parts some parts in two outlines.',
  },
} as const satisfies EndpointContract;
