import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const tireDetect = {
  slug: 'tire.detect',
  title: 'Tire and wheel detector',
  description:
    'Finds tires and wheels and says what can be seen of their condition: wear and depth class of the tread, ' +
    'damages of the sidewall, type and damages of the rim. Depths are classes judged by eye, not measurements. ' +
    'Sidewall lettering is the matter of `tire.read`.',
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
    damaged_rim: 'A cracked and scuffed alloy wheel, its tire bulging.',
  },
} as const satisfies EndpointContract;
