/** The outcomes of all stages → one outcome of the job, in live and in test mode. */
import type { JobError } from '../../contracts/error-codes.ts';
import type { InferenceRequest } from '../../contracts/inference-backend.ts';
import type { Found, InferenceOutcome, JobStage } from '../../contracts/job.ts';
import type { StagePlan, StageProgress } from '../../contracts/run-bundle.ts';
import { advancedStages, failureOfStage } from '../../jobs/job-stages.ts';
import type { Log } from '../../platform/logging/log.ts';
import { invalidResult } from '../toolkit/outcomes.ts';
import type { ResultCheck } from '../toolkit/result-check.ts';
import type { BundleDefinition } from './bundle-definition.ts';

export interface Composition {
  request: InferenceRequest;
  plan: StagePlan;
  progress: readonly StageProgress[];
  found: Found;
  /** As the job resource shows them; null where it shows none. */
  shownStages: readonly JobStage[] | null;
}

/**
 * Failed when a stage failed that is not optional, or when none succeeded; partial when anything else failed. A failed job
 * is charged nothing, any other for the stages that succeeded.
 */
export function composeOutcome(
  endpoint: BundleDefinition<unknown>,
  { request, plan, progress, found, shownStages }: Composition,
  { check, logger }: { check: ResultCheck; logger: Log },
): InferenceOutcome {
  const errors = errorsOf(found);
  const hasFailed = (isOptional: boolean) =>
    plan.stages.find((stage) => stage.isOptional === isOptional && statusOf(progress, stage.name) === 'failed');
  const hasSucceeded = progress.some(({ status, units }) => status === 'succeeded' && (units ?? 0) > 0);
  const fatal = hasFailed(false) ?? (hasSucceeded ? undefined : hasFailed(true));
  if (fatal) {
    const stages = shownStages && advancedStages(shownStages, progress, errors);
    const error = errors[fatal.name] ?? failureOfStage('model_inference_failed');
    return { status: 'failed', result: null, error, chargedCredits: 0, ...(stages && { stages }) };
  }

  const { result, isPartial = false } = endpoint.compose(found, request);
  const problem = check(request.endpoint, result);
  if (problem !== null) {
    logger.error({ jobId: request.jobId, endpoint: request.endpoint, problem }, 'a bundle gave an invalid result');
    return invalidResult();
  }
  const chargedCredits = plan.stages.reduce((sum, { name, priceCredits }) => {
    const at = progress.find((stage) => stage.name === name);
    return sum + Math.min(Math.round(at?.chargedCredits ?? 0), priceCredits);
  }, 0);
  const stages = shownStages && advancedStages(shownStages, progress, errors);
  return {
    status: isPartial || Object.keys(errors).length > 0 ? 'partial' : 'succeeded',
    result,
    error: null,
    chargedCredits: Math.min(chargedCredits, request.reservedCredits),
    ...(stages && { stages }),
  };
}

/** By stage, the error of its first failed unit. */
function errorsOf(found: Found): Record<string, JobError> {
  return Object.fromEntries(
    Object.entries(found).flatMap(([stage, units]) => {
      const first = units.find((unit) => unit.status === 'failed');
      return first ? [[stage, first.error] as const] : [];
    }),
  );
}

function statusOf(progress: readonly StageProgress[], name: string): StageProgress['status'] | undefined {
  return progress.find((stage) => stage.name === name)?.status;
}
