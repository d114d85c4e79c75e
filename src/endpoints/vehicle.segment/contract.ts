import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const vehicleSegment = {
  slug: 'vehicle.segment',
  title: 'Vehicle masks',
  description:
    'Outlines every vehicle in a picture, marks the main one and returns a matte for cutting it out. To outline the ' +
    'parts of a vehicle use `parts.segment`. A picture without a vehicle returns an empty list, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No vehicle in the picture: an empty list and no matte.',
    low_confidence: 'A mask with a confidence below 0.5.',
    ...JOB_SCENARIOS,
  },
} as const satisfies EndpointContract;
