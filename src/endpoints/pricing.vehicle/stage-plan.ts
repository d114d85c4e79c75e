import type { ValidRequest } from '../../contracts/endpoint-contract.ts';
import type { PlannedStage } from '../../contracts/run-bundle.ts';
import { TASK_QUEUES } from '../../contracts/task-queues.ts';
import { damageSeverity } from '../damage.severity/contract.ts';
import type { Parameters } from './request.ts';

export const PRICE_CREDITS = 50;
/** A lost worker repeats little. */
const PICTURES_PER_ACTIVITY = 5;

/**
 * Pictures infer the condition, unless it is given. They only refine the valuation, so it does not wait for workers that are
 * not there. Without pictures to look at it is one step.
 */
export function stagePlan({ parameters, files }: ValidRequest): PlannedStage[] {
  const { condition_grade } = parameters as Parameters;
  if (files.length === 0 || condition_grade !== undefined) return [];
  return [
    {
      name: 'condition',
      after: [],
      isOptional: true,
      units: files.length,
      unitName: 'pictures',
      unitsPerActivity: PICTURES_PER_ACTIVITY,
      taskQueue: TASK_QUEUES.inferenceGpu,
      requires: damageSeverity.slug,
      priceCredits: 0,
    },
    {
      name: 'valuation',
      after: ['condition'],
      isOptional: false,
      units: 1,
      unitName: 'vehicles',
      unitsPerActivity: 1,
      taskQueue: TASK_QUEUES.valuation,
      priceCredits: PRICE_CREDITS,
    },
  ];
}
