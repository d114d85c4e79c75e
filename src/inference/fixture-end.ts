/** How a job of test mode ends that does not simply succeed at its full price. */
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { InferenceOutcome, JobStage } from '../contracts/job.ts';
import { epochSeconds } from '../domain/job-resource.ts';
import { queuedStages } from '../domain/job-stages.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { InferenceRequest } from './backend.ts';

/** Holds one of `chargedShare`, `chargedField` and, for an endpoint with stage prices, `stages` alone. */
export interface FixtureEnd {
  status: InferenceOutcome['status'];
  /** Of the credits held, the share that is charged: 0 to 1. */
  chargedShare?: number;
  /** Name of the result's field that states the credits charged. */
  chargedField?: string;
  /** How each stage ended. The price of those that succeeded is charged. */
  stages?: FixtureStage[];
}

interface FixtureStage {
  name: string;
  status: 'succeeded' | 'failed' | 'skipped';
  error?: { code: ErrorCode; message: string };
}

export function endAs(
  end: FixtureEnd,
  result: unknown,
  { request, endpoint, now }: { request: InferenceRequest; endpoint: EndpointContract; now: Date },
): InferenceOutcome {
  const stages = end.stages && endStages(end.stages, { request, endpoint, now });
  return {
    status: end.status,
    result,
    error: null,
    chargedCredits: chargeOf(end, result, stages, request.reservedCredits),
    ...(stages && { stages }),
  };
}

function chargeOf(
  { chargedShare, chargedField }: FixtureEnd,
  result: unknown,
  stages: readonly JobStage[] | undefined,
  reservedCredits: number,
): number {
  if (chargedShare !== undefined) return Math.round(reservedCredits * chargedShare);
  const stated =
    chargedField === undefined
      ? stages?.reduce((sum, { credits }) => sum + credits.charged, 0)
      : (result as Record<string, unknown>)[chargedField];
  if (typeof stated !== 'number') throw new Error('the outcome of a fixture does not say what is charged');
  return Math.min(stated, reservedCredits);
}

function endStages(
  ended: readonly FixtureStage[],
  { request, endpoint, now }: { request: InferenceRequest; endpoint: EndpointContract; now: Date },
): JobStage[] {
  const { parameters, inputs } = request;
  const at = epochSeconds(now);
  return (queuedStages(endpoint, { parameters, files: inputs }) ?? []).map((stage) => {
    const end = ended.find(({ name }) => name === stage.name);
    if (!end || stage.status === 'skipped') return stage;
    if (end.status === 'skipped') return { ...stage, status: 'skipped' };
    const isDone = end.status === 'succeeded';
    return {
      ...stage,
      status: end.status,
      progress: isDone ? 1 : 0,
      started_at: at,
      completed_at: at,
      credits: { ...stage.credits, charged: isDone ? stage.credits.reserved : 0 },
      error: end.error ? new ServiceError(end.error.code, end.error.message).toJobError() : null,
    };
  });
}
