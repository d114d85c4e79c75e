import type { EndpointContract, RequestProblem, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { TASK_QUEUES } from '../../contracts/task-queues.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { repairs } from '../shared/repair-rules.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const pricingRepair = {
  slug: 'pricing.repair',
  title: 'Repair cost estimator',
  description:
    'Estimates the cost of repairing damages: operations with method, hours, paint and parts, and totals with tax. The ' +
    'damages come from the request or from an earlier job. Every amount is an integer in the minor unit of `currency`. ' +
    'The estimate covers visible or stated damage, not what only dismantling would reveal. ' +
    'Live estimates come from the price books of repairs that the operator has imported; `price_book` names the version ' +
    'that gave them. Work that several damages share is done once: `steps` shows it. Pictures and sizes do not move them ' +
    'yet. In test mode hours and part prices follow fixed rules by type, severity and part; `country` and `currency` are ' +
    'echoed and no amount is converted.',
  family: 'money',
  preview: true,
  ...FAST,
  inferenceTaskQueue: TASK_QUEUES.valuation,
  usesPriceBooks: 'repairs',
  priceCredits: 50,
  files,
  parameters,
  refine,
  refineTestMode,
  jobReferences: [
    { parameter: 'job_id', endpoints: ['damage.detect', 'damage.severity', 'inspections'], isExhaustive: true },
  ],
  result,
  scenarios: {
    empty_result: 'Nothing to repair: no operations, and all totals are 0.',
    low_confidence: 'An estimate in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    not_all_priced: 'The last damage cannot be priced: `not_priced` names it with the reason.',
  },
} as const satisfies EndpointContract;

/** Test mode follows rules, not a book. */
function refineTestMode({ parameters }: ValidRequest): RequestProblem | null {
  const param = (['price_book', 'region'] as const).find((name) => (parameters as Parameters)[name] !== undefined);
  return param ? { param, message: `Test mode has no price book of repairs. Omit "${param}".` } : null;
}

/** The damages come from the request or from a job, not from both; a stated method must repair its damage. */
function refine(request: ValidRequest): RequestProblem | null {
  const { damages, job_id } = request.parameters as Parameters;
  if (damages && job_id !== undefined) return { param: 'job_id', message: 'Send "damages" or "job_id", not both.' };
  if (!damages && job_id === undefined)
    return { param: 'damages', message: 'Send "damages" or "job_id".', isMissing: true };
  const ids = damages?.map(({ id }, index) => id ?? `damage_${index + 1}`) ?? [];
  const repeated = ids.findIndex((id, index) => ids.indexOf(id) < index);
  if (repeated >= 0) return { param: `damages.${repeated}.id`, message: `"damages.${repeated}.id" must be unique.` };
  return unsuitedMethod(damages ?? []);
}

function unsuitedMethod(damages: NonNullable<Parameters['damages']>): RequestProblem | null {
  for (const [index, { type, part, repair_method: method }] of damages.entries()) {
    if (method === undefined || repairs(method, { type, part })) continue;
    const param = `damages.${index}.repair_method`;
    const message = `"${param}": ${method} cannot repair ${type} on ${part}. Leave it out for the cheapest sound method.`;
    return { param, message };
  }
  return null;
}
