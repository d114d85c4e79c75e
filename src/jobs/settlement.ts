/** How a job ends: its status, its charge, its event and the deliveries of that event. */
import { ERRORS, type ErrorCode, type JobError } from '../contracts/error-codes.ts';
import type { InferenceOutcome, JobStatus, TerminalJobStatus } from '../contracts/job.ts';
import type { Settlement } from '../contracts/run-job.ts';
import { newId } from '../platform/ids.ts';
import { eventIdOf, eventTypeOf, renderEvent } from './job-event.ts';
import { endedJob, renderJob } from './job-resource.ts';
import type { JobToSettle, TerminalTransition } from './settlement-store.ts';

/** Ends the job by its outcome; without one by its expiry, when nobody picked it up; otherwise by `failure`. */
export function planTransition(
  { job, outcome, listeners }: JobToSettle,
  failure: ErrorCode | null,
  now: Date,
): TerminalTransition & { error: JobError | null } {
  const end = outcome ?? endWithoutOutcome(job.status, failure ?? 'model_inference_failed');
  const ended = endedJob(job, {
    status: end.status,
    result: end.status === 'failed' ? null : end.result,
    error: end.error,
    stages: end.stages ?? job.stages,
    chargedCredits: Math.min(end.chargedCredits, job.reservedCredits),
    completedAt: now,
  });
  const type = eventTypeOf(end.status);
  const id = eventIdOf(job.id);
  return {
    jobId: job.id,
    from: end.status === 'expired' || end.status === 'canceled' ? ['queued'] : ['queued', 'processing'],
    to: end.status,
    result: ended.result,
    error: ended.error ?? null,
    stages: ended.stages,
    chargedCredits: ended.chargedCredits,
    completedAt: now,
    event: type && {
      id,
      type,
      payload: renderEvent({
        id,
        type,
        createdAt: now,
        job: renderJob(ended),
        requestId: job.requestId,
        idempotencyKey: job.idempotencyKey,
      }),
    },
    deliveries: listeners
      .filter((endpoint) => type !== null && endpoint.events.includes(type))
      .map((endpoint) => ({ id: newId('webhookDelivery'), webhookEndpointId: endpoint.id })),
  };
}

/** The settlement of a job that has ended. */
export function settlementOf(
  { status, chargedCredits, error }: { status: JobStatus; chargedCredits: number; error: JobError | null },
  deliveryIds: string[],
): Settlement {
  return { status: status as TerminalJobStatus, chargedCredits, deliveryIds, ...(error && { error: error.code }) };
}

const MESSAGES: Partial<Record<ErrorCode, string>> & { model_inference_failed: string } = {
  job_expired: 'The job was not picked up in time. Nothing was charged; submit it again.',
  inference_timeout: 'The inference took too long and was stopped. Nothing was charged; submit it again.',
  model_unavailable: 'No worker that has the model took the job in time. Nothing was charged; submit it again.',
  job_stopped: 'The operator of the service stopped the job. Nothing was charged; submit it again.',
  model_inference_failed: 'The inference failed. Nothing was charged; submit it again.',
};

function endWithoutOutcome(
  status: JobStatus,
  failure: ErrorCode,
): Omit<InferenceOutcome, 'status'> & { status: 'failed' | 'expired' | 'canceled' } {
  // Only a queued job can be canceled; one that runs can only fail (ADR 0029).
  if (failure === 'job_stopped' && status === 'queued')
    return { status: 'canceled', result: null, error: null, chargedCredits: 0 };
  // A worker has had the job: it was lost, or had no free process, and none took it afterwards.
  const code = failure === 'job_expired' && status === 'processing' ? 'model_unavailable' : failure;
  const error: JobError = { type: ERRORS[code].type, code, message: MESSAGES[code] ?? MESSAGES.model_inference_failed };
  return { status: code === 'job_expired' ? 'expired' : 'failed', result: null, error, chargedCredits: 0 };
}
