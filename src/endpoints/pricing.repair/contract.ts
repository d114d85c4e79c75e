import type { EndpointContract, RequestProblem, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const pricingRepair = {
  slug: 'pricing.repair',
  title: 'Repair cost estimator',
  description:
    'Estimates what it costs to repair damages: the operations with their method, hours, paint and parts, and the totals ' +
    'with tax. The damages are those of the request or of an earlier job. Every amount is an integer in the minor unit of ' +
    '`currency`. It reckons with what is seen or stated: what only a dismantled vehicle would show is not in it. ' +
    'In test mode `country` and `currency` are answered as they were sent: hours, prices of parts and tax are those of one ' +
    'fixture, and no amount is converted.',
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
    empty_result: 'Nothing to repair: no operations, and totals of 0.',
    low_confidence: 'An estimate in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    not_all_priced: 'The last damage cannot be priced: `not_priced` names it and says why.',
  },
} as const satisfies EndpointContract;

/** The damages come from one place. */
function refine(request: ValidRequest): RequestProblem | null {
  const { damages, job_id } = request.parameters as Parameters;
  if (damages && job_id !== undefined) return { param: 'job_id', message: 'Send "damages" or "job_id", not both.' };
  if (!damages && job_id === undefined)
    return { param: 'damages', message: 'Send "damages" or "job_id".', isMissing: true };
  const ids = damages?.map(({ id }, index) => id ?? `damage_${index + 1}`) ?? [];
  const repeated = ids.findIndex((id, index) => ids.indexOf(id) < index);
  return repeated < 0 ? null : { param: `damages.${repeated}.id`, message: `"damages.${repeated}.id" must be unique.` };
}
