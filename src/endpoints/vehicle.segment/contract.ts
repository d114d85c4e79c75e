import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const vehicleSegment = {
  slug: 'vehicle.segment',
  title: 'Vehicle masks',
  description:
    'Outlines every vehicle in a picture, says which one the picture is of, and makes a matte of that one for cutting ' +
    'it out. It does not tell the parts of a vehicle apart: see `parts.segment`. A picture without a vehicle gives an ' +
    'empty list, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No vehicle in the picture: an empty list and no matte.',
    low_confidence: 'A mask whose confidence is below 0.5.',
    ...JOB_SCENARIOS,
  },
} as const satisfies EndpointContract;
