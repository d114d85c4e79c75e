import { ApplicationFailure } from '@temporalio/common';
import { ERRORS, type ErrorCode, type JobError } from '../contracts/error-codes.ts';
import type { InferenceOutcome, JobStatus, TerminalJobStatus } from '../contracts/job.ts';
import type { Settlement, SettlementActivities } from '../contracts/run-job.ts';
import {
  type JobToSettle,
  readJobToSettle,
  readUnstartedDeliveries,
  settleJob,
  type TerminalTransition,
} from '../db/jobs/settle-job.ts';
import type { EntityManager, MikroORM } from '../db/orm.ts';
import { newId } from '../domain/ids.ts';
import { eventTypeOf, renderEvent } from '../domain/job-event.ts';
import { endedJob, renderJob } from '../domain/job-resource.ts';
import { isTerminal } from '../domain/job-states.ts';
import { addLogFields } from '../observability/log-context.ts';
import type { SettledJob } from '../observability/metrics.ts';

/** Told of each job that was ended here, once. */
export type SettlementObserver = (job: SettledJob & { id: string; organizationId: string }) => void;

interface Dependencies {
  orm: MikroORM;
  onSettled?: SettlementObserver | undefined;
  clock?: () => Date;
}

export interface JobEnd {
  jobId: string;
  /** What the inference found, where it was not staged. One that was staged before stays. */
  outcome?: InferenceOutcome;
  /** Why there is no outcome. */
  failure: ErrorCode | null;
}

/** The workflow settles what was staged; the inference what it has just found. */
interface Settlements extends SettlementActivities {
  settleJob: (end: JobEnd) => Promise<Settlement>;
}

export function createSettlementActivities({ orm, onSettled, clock = () => new Date() }: Dependencies): Settlements {
  return {
    async settleJob({ jobId, outcome, failure }) {
      const em = orm.em.fork();
      const found = await read(em, jobId);
      addLogFields({ requestId: found.job.requestId });
      if (isTerminal(found.job.status)) return settlementOf(found.job, await readUnstartedDeliveries(em, jobId));

      const ended = { ...found, outcome: found.outcome ?? outcome ?? null };
      const transition = planTransition(ended, failure, clock());
      if (await settleJob(em, transition)) {
        const { id, organizationId, endpoint, livemode, createdAt, startedAt } = found.job;
        const { to: status, completedAt } = transition;
        onSettled?.({ id, organizationId, endpoint, livemode, createdAt, startedAt, status, completedAt });
        const deliveryIds = transition.deliveries.map((delivery) => delivery.id);
        return settlementOf({ ...transition, status: transition.to }, deliveryIds);
      }
      // Another transition won: the job has ended, or was picked up when it was about to expire.
      const { job } = await read(em.fork(), jobId);
      if (!isTerminal(job.status)) throw new Error(`job ${jobId} moved to ${job.status} while it was being settled`);
      return settlementOf(job, await readUnstartedDeliveries(em, jobId));
    },
  };
}

async function read(em: EntityManager, jobId: string): Promise<JobToSettle> {
  const found = await readJobToSettle(em, jobId);
  // Such as after the restore of an older database: trying again would not bring it back.
  if (!found) throw ApplicationFailure.nonRetryable(`there is no job ${jobId}`, 'JobNotFound');
  return found;
}

function settlementOf(
  { status, chargedCredits, error }: { status: JobStatus; chargedCredits: number; error: JobError | null },
  deliveryIds: string[],
): Settlement {
  return { status: status as TerminalJobStatus, chargedCredits, deliveryIds, ...(error && { error: error.code }) };
}

/** What ends the job: its outcome; else its expiry, when nobody picked it up; else the failure that is named. */
function planTransition(
  { job, outcome, listeners }: JobToSettle,
  failure: ErrorCode | null,
  now: Date,
): TerminalTransition & { error: JobError | null } {
  const end = outcome ?? unfinished(job.status, failure ?? 'model_inference_failed');
  const ended = endedJob(job, {
    status: end.status,
    result: end.status === 'failed' ? null : end.result,
    error: end.error,
    stages: end.stages ?? job.stages,
    chargedCredits: Math.min(end.chargedCredits, job.reservedCredits),
    completedAt: now,
  });
  const type = eventTypeOf(end.status);
  const id = newId('event');
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

const MESSAGES: Partial<Record<ErrorCode, string>> & { model_inference_failed: string } = {
  job_expired: 'The job was not picked up in time. Nothing was charged; submit it again.',
  inference_timeout: 'The inference took too long and was stopped. Nothing was charged; submit it again.',
  model_unavailable: 'No worker that has the model took the job in time. Nothing was charged; submit it again.',
  job_stopped: 'The operator of the service stopped the job. Nothing was charged; submit it again.',
  model_inference_failed: 'The inference failed. Nothing was charged; submit it again.',
};

function unfinished(
  status: JobStatus,
  failure: ErrorCode,
): Omit<InferenceOutcome, 'status'> & { status: 'failed' | 'expired' | 'canceled' } {
  // Only a job that nobody has picked up can be canceled; one at work can only fail (ADR 0029).
  if (failure === 'job_stopped' && status === 'queued')
    return { status: 'canceled', result: null, error: null, chargedCredits: 0 };
  const code = failure === 'job_expired' && status === 'processing' ? 'model_inference_failed' : failure;
  const error: JobError = { type: ERRORS[code].type, code, message: MESSAGES[code] ?? MESSAGES.model_inference_failed };
  return { status: code === 'job_expired' ? 'expired' : 'failed', result: null, error, chargedCredits: 0 };
}
