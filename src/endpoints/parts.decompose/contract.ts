import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const partsDecompose = {
  slug: 'parts.decompose',
  title: 'Part decomposer',
  description:
    'Takes a picture of a vehicle apart: each exterior part as a WebP cut-out with a transparent background, and ' +
    'its place on an exploded view. What the picture hides of a part is not invented: `is_cut_off` and ' +
    '`is_occluded` say where a piece is missing.',
  family: 'parts',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No part in the picture: an empty list, no exploded view.',
    low_confidence: 'Cut-outs in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
  },
} as const satisfies EndpointContract;
