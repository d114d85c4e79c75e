import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const partsDecompose = {
  slug: 'parts.decompose',
  title: 'Part decomposer',
  description:
    'Cuts a picture of a vehicle into its exterior parts: each as a WebP cut-out with a transparent background, with ' +
    'its position on an exploded view. Hidden areas are not invented: `is_cut_off` and `is_occluded` mark parts that ' +
    'are incomplete.',
  family: 'parts',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No part in the picture: an empty list and no exploded view.',
    low_confidence: 'Cut-outs in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
  },
} as const satisfies EndpointContract;
