import { ApplicationFailure } from '@temporalio/common';
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { InferenceOutcome } from '../contracts/job.ts';
import type { Settlement, SettlementActivities } from '../contracts/run-job.ts';
import { isTerminal } from '../jobs/job-states.ts';
import { planTransition, settlementOf } from '../jobs/settlement.ts';
import { type JobToSettle, readJobToSettle, readUnstartedDeliveries, settleJob } from '../jobs/settlement-store.ts';
import type { SettledJob } from '../observability/metrics.ts';
import type { EntityManager, MikroORM } from '../platform/database/orm.ts';
import { addLogFields } from '../platform/logging/log-context.ts';

/** Called once for each job that was ended here. */
export type SettlementObserver = (job: SettledJob & { id: string; organizationId: string }) => void;

interface Dependencies {
  orm: MikroORM;
  onSettled?: SettlementObserver | undefined;
  clock?: () => Date;
}

export interface JobEnd {
  jobId: string;
  /** What the inference found, unless it left it as a pending outcome. An earlier pending outcome takes precedence. */
  outcome?: InferenceOutcome;
  /** Why there is no outcome. */
  failure: ErrorCode | null;
}

/** The workflow settles a pending outcome; the inference settles the outcome it has just found. */
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
  // For example after an older database was restored. A retry would not bring the job back.
  if (!found) throw ApplicationFailure.nonRetryable(`there is no job ${jobId}`, 'JobNotFound');
  return found;
}
