import type { EndpointContract, RequestProblem, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const pricingRepair = {
  slug: 'pricing.repair',
  title: 'Repair cost estimator',
  description:
    'Estimates the cost of repairing damages: operations with method, hours, paint and parts, and totals with tax. The ' +
    'damages come from the request or from an earlier job. Every amount is an integer in the minor unit of `currency`. ' +
    'The estimate covers visible or stated damage, not what only dismantling would reveal. In test mode hours ' +
    'and part prices follow fixed rules by type, severity and part; `country` and `currency` are echoed and no amount ' +
    'is converted.',
  family: 'money',
  preview: true,
  ...FAST,
  priceCredits: 50,
  files,
  parameters,
  refine,
  jobReferences: [{ parameter: 'job_id', endpoints: ['damage.detect', 'damage.severity', 'inspections'] }],
  result,
  scenarios: {
    empty_result: 'Nothing to repair: no operations, and all totals are 0.',
    low_confidence: 'An estimate in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    not_all_priced: 'The last damage cannot be priced: `not_priced` names it with the reason.',
  },
} as const satisfies EndpointContract;

/** The damages come from the request or from a job, not from both. */
function refine(request: ValidRequest): RequestProblem | null {
  const { damages, job_id } = request.parameters as Parameters;
  if (damages && job_id !== undefined) return { param: 'job_id', message: 'Send "damages" or "job_id", not both.' };
  if (!damages && job_id === undefined)
    return { param: 'damages', message: 'Send "damages" or "job_id".', isMissing: true };
  const ids = damages?.map(({ id }, index) => id ?? `damage_${index + 1}`) ?? [];
  const repeated = ids.findIndex((id, index) => ids.indexOf(id) < index);
  return repeated < 0 ? null : { param: `damages.${repeated}.id`, message: `"damages.${repeated}.id" must be unique.` };
}
