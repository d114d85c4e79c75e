import type { EntityManager } from '../platform/database/orm.ts';
import { settleJob } from './settlement-store.ts';

/** Cancels a queued job: its hold is released, and no event is written. False when the job has left the queue. */
export function cancelQueuedJob(em: EntityManager, jobId: string, now: Date): Promise<boolean> {
  return settleJob(em, {
    jobId,
    from: ['queued'],
    to: 'canceled',
    result: null,
    error: null,
    stages: null,
    chargedCredits: 0,
    completedAt: now,
    event: null,
    deliveries: [],
  });
}
