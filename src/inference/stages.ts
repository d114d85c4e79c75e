/** What bundles have in common, whatever runs their units: how one outcome is made of all stages. */
import { existsSync } from 'node:fs';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobError } from '../contracts/error-codes.ts';
import type { Found, InferenceOutcome, JobStage } from '../contracts/job.ts';
import type { StagePlan, StageProgress } from '../contracts/run-stages.ts';
import { advancedStages, failureOfStage } from '../domain/job-stages.ts';
import type { InferenceRequest } from './backend.ts';
import { runStagesUrl } from './endpoint-folder.ts';
import type { Log } from './log.ts';
import { invalidResult } from './outcomes.ts';
import type { ResultCheck } from './result-check.ts';
import type { StagedEndpoint } from './staged-endpoint.ts';

/** Null of an endpoint that runs in one step. */
export async function loadStagedEndpoint(
  endpointsDirectory: URL,
  endpoint: string,
): Promise<StagedEndpoint<unknown> | null> {
  const url = runStagesUrl(endpointsDirectory, endpoint);
  if (!existsSync(url)) return null;
  return ((await import(url.href)) as { stages: StagedEndpoint<unknown> }).stages;
}

/** Of one bundle: a large one must not keep the workers from the jobs of others. */
const ACTIVITIES_AT_A_TIME = 4;
/** An inspection of 200 pictures has some 400 events, so that only videos by the dozen need a second run. */
const EVENTS_PER_RUN = 1_000;

/** The stages of a request; null where its endpoint runs in one step. */
export function planOf(contract: EndpointContract | undefined, request: InferenceRequest): StagePlan | null {
  if (!contract?.stagePlan) return null;
  const { parameters, inputs } = request;
  return {
    stages: contract.stagePlan({ parameters, files: inputs }),
    isShown: contract.stages !== undefined,
    activitiesAtATime: ACTIVITIES_AT_A_TIME,
    eventsPerRun: EVENTS_PER_RUN,
  };
}

export interface Composition {
  request: InferenceRequest;
  plan: StagePlan;
  progress: readonly StageProgress[];
  found: Found;
  /** As the job shows them; null where it shows none. */
  shownStages: readonly JobStage[] | null;
}

/**
 * One outcome of all stages: failed when one failed that is not optional, or when none succeeded; partial when some of it
 * failed. The stages that succeeded are charged, in a failed job nothing.
 */
export function composeOutcome(
  endpoint: StagedEndpoint<unknown>,
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
    logger.error({ jobId: request.jobId, endpoint: request.endpoint, problem }, 'a bundle gives an invalid result');
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

/** By stage, why the first of its units that failed did. */
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
