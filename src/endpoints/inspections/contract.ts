import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { LONG } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, parameters } from './request.ts';
import { result } from './result.ts';
import { PLAINEST_PRICE, priceOf, STAGES, stagePlan } from './stage-plan.ts';

export const inspections = {
  slug: 'inspections',
  title: 'Vehicle inspection',
  description:
    'Inspects the exterior of a vehicle on up to 200 pictures and videos. The result lists what each view shows, the ' +
    'damages merged per part across all views, the missing views, a repair estimate and a report. The job runs in ' +
    'stages, each with its own price. If an optional stage fails, the job is `partial`; failed and skipped stages are ' +
    'not charged. Send pictures directly or as uploads, videos as uploads.',
  family: 'damage',
  preview: true,
  ...LONG,
  priceCredits: PLAINEST_PRICE,
  price: priceOf,
  files,
  parameters,
  jobReferences: [{ parameter: 'baseline_job_id', endpoints: ['inspections'], isExhaustive: true }],
  stages: STAGES,
  stagePlan,
  result,
  scenarios: {
    empty_result: 'No vehicle on any picture: no parts, no estimate and no report.',
    low_confidence: 'An inspection in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    partial_inspection: 'The repair estimate fails: the job is `partial`, and that stage is not charged.',
    undamaged:
      'A vehicle in good order: every part was examined, none is damaged. The stages `severity_grading` and ' +
      '`repair_estimate` are skipped and not charged.',
  },
} as const satisfies EndpointContract;
