import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';
import { PLAINEST_PRICE, priceOf, STAGES, stagePlan } from './stages.ts';

export const inspections = {
  slug: 'inspections',
  title: 'Vehicle inspection',
  description:
    'Inspects the outside of a vehicle on up to 200 pictures and videos: what each view shows, the damages merged part by ' +
    'part with every view that shows them, the views that are missing, an estimate of the repairs and a report. It runs in ' +
    'stages, each with its own credits; where an optional one fails the job is `partial` and the stage is not charged, nor ' +
    'is one that has nothing to do. ' +
    'Pictures may be sent directly or as uploads, videos as uploads.',
  family: 'damage',
  preview: true,
  ...LONG,
  priceCredits: PLAINEST_PRICE,
  price: priceOf,
  files,
  parameters,
  jobReferences: [{ parameter: 'baseline_job_id', endpoints: ['inspections'] }],
  stages: STAGES,
  stagePlan,
  result,
  scenarios: {
    empty_result: 'No vehicle on any picture: no parts, and neither estimate nor report.',
    low_confidence: 'An inspection in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    partial_inspection: 'The repair estimate fails: the job is `partial`, and that stage is not charged.',
    undamaged:
      'A vehicle in good order: every part was examined, none is damaged. There is nothing to grade or to estimate: both ' +
      'stages are skipped and free.',
  },
} as const satisfies EndpointContract;
