import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const vehicleIdentify = {
  slug: 'vehicle.identify',
  title: 'Make, model and colour',
  description:
    'Identifies the vehicle on one to eight pictures: ranked candidates of make, model and generation with production ' +
    'years, the body type and the colour, each with its confidence. It uses appearance only: no VIN, plate or register ' +
    'is consulted. Pictures without a vehicle return null readings, not an error.',
  family: 'understand',
  preview: true,
  ...FAST,
  priceCredits: 40,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No vehicle in the pictures: no candidates and null readings.',
    low_confidence: 'An identification in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    ambiguous_model: 'The make is certain, but three models look alike: no candidate reaches 0.5.',
    different_vehicles: 'Two pictures of two vehicles: `same_vehicle` is false, and the candidates refer to the first.',
  },
} as const satisfies EndpointContract;
