/** Jobs on a worker that lacks their model, or has no free process for them. */
import { Context } from '@temporalio/activity';
import type { HandedBack } from '../contracts/handed-back.ts';
import type { Job } from '../jobs/entities.ts';
import { isAnnounced } from '../jobs/installed-endpoints-store.ts';
import type { EntityManager } from '../platform/database/orm.ts';
import { ServiceError } from '../platform/service-error.ts';
import { throughOutages } from './through-outages.ts';

interface Wanted {
  job: Pick<Job, 'endpoint' | 'livemode'>;
  /** The build that must run it; null for any. */
  modelVersion: string | null;
  /** Whether the workflow understands a job that is handed back; workflows of earlier releases do not. */
  mayPassOn: boolean;
}

/**
 * Returns `HandedBack` for a live job when `choose` throws because this worker lacks the model and another worker announces
 * it. Otherwise returns null: this worker runs the job, or fails it when no worker has the model. Leaves the row unchanged.
 */
export async function handBack(
  em: EntityManager,
  { job: { endpoint, livemode }, modelVersion, mayPassOn }: Wanted,
  choose: () => unknown,
): Promise<TaggedHandedBack | null> {
  if (!mayPassOn || !livemode || !lacksModel(choose)) return null;
  if (!(await throughOutages(() => isAnnounced(em, { endpoint, modelVersion })))) return null;
  return handedBack();
}

type TaggedHandedBack = HandedBack & { kind: 'handed_back' };

/** This attempt does not count; earlier ones do. */
export function handedBack(): TaggedHandedBack {
  return { kind: 'handed_back', isPassedOn: true, usedAttempts: Context.current().info.attempt - 1 };
}

function lacksModel(choose: () => unknown): boolean {
  try {
    choose();
    return false;
  } catch (error) {
    return error instanceof ServiceError && error.code === 'model_unavailable';
  }
}
