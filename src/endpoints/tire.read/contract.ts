import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';

export const tireRead = {
  slug: 'tire.read',
  title: 'Tire sidewall reader',
  description:
    'Reads the sidewall of a tire: size, load and speed index, DOT code with week and year of manufacture, brand, model ' +
    'and season marks. Fields that cannot be read are null. For the condition of a tire use `tire.detect`.',
  family: 'damage',
  preview: true,
  ...FAST,
  priceCredits: 20,
  files,
  parameters,
  result,
  scenarios: {
    empty_result: 'No tire in the picture: null readings and no marks.',
    low_confidence: 'A reading in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    poor_image_quality: 'A blurred picture with a reflection: null readings, and `quality_issues` says why.',
    dot_unreadable: 'Everything except the DOT code is read: `dot` is null.',
    dot_without_date: 'The sidewall without a date code: `week` and `year` are null.',
  },
} as const satisfies EndpointContract;
