import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const tireRead = {
  slug: 'tire.read',
  title: 'Tire sidewall reader',
  description:
    'Reads off the sidewall what a tire is: its size, load and speed index, DOT code with week and year of ' +
    'manufacture, brand, model and season marks. What cannot be read is null. It does not judge the condition (see ' +
    '`tire.detect`).',
  family: 'damage',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No tire in the picture: null readings, no marks.',
    low_confidence: 'A reading in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    dot_unreadable: 'Everything is read but the DOT code: `dot` is null.',
    dot_without_date: 'The side of the tire that leaves the date out: `week` and `year` are null.',
  },
} as const satisfies EndpointContract;
