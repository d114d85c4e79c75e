import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const tireDetect = {
  slug: 'tire.detect',
  title: 'Tire and wheel detector',
  description:
    'Finds tires and wheels and describes their visible condition: wear and depth class of the tread, sidewall damage, ' +
    'type and damage of the rim. Depths are visual classes, not measurements. To read the sidewall lettering use ' +
    '`tire.read`.',
  family: 'damage',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No tire in the picture: empty lists.',
    low_confidence: 'Detections in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    worn_tread: 'A tire worn to its limit on one shoulder.',
    damaged_rim: 'A cracked and scuffed alloy wheel with a bulging tire.',
  },
} as const satisfies EndpointContract;
