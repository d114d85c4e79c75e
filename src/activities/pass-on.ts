/** Jobs that landed on a worker which lacks their model, or has no process free for them. */
import { Context } from '@temporalio/activity';
import type { PassedOn } from '../contracts/passed-on.ts';
import type { Job } from '../db/entities.ts';
import { isAnnounced } from '../db/jobs/installed-endpoints.ts';
import type { EntityManager } from '../db/orm.ts';
import { ServiceError } from '../domain/service-error.ts';
import { throughOutages } from './through-outages.ts';

interface Wanted {
  job: Pick<Job, 'endpoint' | 'livemode'>;
  /** The build that must answer; null for any. */
  modelVersion: string | null;
  /** Whether the workflow knows what to do with such an answer: those of earlier releases do not. */
  mayPassOn: boolean;
}

/**
 * Answers `PassedOn` of a live job where `choose` throws because this worker lacks its model and some worker announces it;
 * else null: the job is then for this worker, also where nobody has the model. The row of the job is left as it is.
 */
export async function passOn(
  em: EntityManager,
  { job: { endpoint, livemode }, modelVersion, mayPassOn }: Wanted,
  choose: () => unknown,
): Promise<PassedOn | null> {
  if (!mayPassOn || !livemode || !lacksModel(choose)) return null;
  if (!(await throughOutages(() => isAnnounced(em, { endpoint, modelVersion })))) return null;
  return passedOn();
}

/** This attempt does not count; those before it do. */
export function passedOn(): PassedOn {
  return { isPassedOn: true, usedAttempts: Context.current().info.attempt - 1 };
}

function lacksModel(choose: () => unknown): boolean {
  try {
    choose();
    return false;
  } catch (error) {
    return error instanceof ServiceError && error.code === 'model_unavailable';
  }
}
