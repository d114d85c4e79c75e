/** Deletes customers' data after its retention time, in batches that block nobody. */
import type { Logger } from 'pino';
import {
  deleteOldDispatches,
  deleteOldEvents,
  deleteUsedUploads,
  findEndedJobs,
  forgetOldResults,
} from '../jobs/retention-store.ts';
import { inBatches } from '../platform/database/in-batches.ts';
import { onOneReplica } from '../platform/database/one-replica.ts';
import type { MikroORM } from '../platform/database/orm.ts';
import { type ObjectStore, ownerOf } from '../platform/storage/object-store.ts';
import { deleteOldShadowRuns } from '../releases/shadow-runs-store.ts';

export interface RetentionDays {
  /** Files of ended jobs, used uploads, and what releases in the shadow made of those jobs. */
  inputs: number;
  /** Results and parameters; null keeps them. */
  results: number | null;
  /** Events, with their deliveries. */
  events: number;
}

interface Dependencies {
  orm: MikroORM;
  store: ObjectStore;
  logger: Logger;
  retentionDays: RetentionDays;
  clock?: () => Date;
  /** Ends a pass early. */
  signal?: AbortSignal;
}

const DAY_MS = 24 * 60 * 60_000;
/** Jobs looked up in one statement. */
const JOBS_AT_ONCE = 500;

/**
 * Returns a pass that continues where the last one stopped, unless another replica is making one, and tells whether there is more
 * to do.
 */
export function createRetentionSweep(dependencies: Dependencies): () => Promise<boolean> {
  const { orm, store, logger, retentionDays, clock = () => new Date(), signal } = dependencies;
  let resultsForgottenUpTo = '';
  let isMore = false;

  const take = async (batch: Parameters<typeof inBatches>[0]): Promise<number> => {
    const { rows, hasMore } = await inBatches(batch, signal);
    isMore ||= hasMore;
    return rows;
  };

  const pass = async () => {
    const em = orm.em.fork();
    const daysAgo = (days: number) => new Date(clock().getTime() - days * DAY_MS);
    const inputsBefore = daysAgo(retentionDays.inputs);
    const events = await take(() => deleteOldEvents(em, daysAgo(retentionDays.events)));
    const dispatches = await take(() => deleteOldDispatches(em, daysAgo(retentionDays.events)));
    const uploads = await take(async () => {
      const { storageKeys, ...batch } = await deleteUsedUploads(em.fork(), inputsBefore);
      for (const key of storageKeys) await store.remove(key);
      return batch;
    });
    const resultsBefore = retentionDays.results === null ? null : daysAgo(retentionDays.results);
    const results = await take(async () => {
      if (resultsBefore === null) return { rows: 0, hasMore: false };
      const { lastId, ...batch } = await forgetOldResults(em, resultsBefore, resultsForgottenUpTo);
      resultsForgottenUpTo = lastId;
      return batch;
    });
    // With a job's files or its result, whichever goes first.
    const shadowsBefore = daysAgo(Math.min(retentionDays.inputs, retentionDays.results ?? Number.POSITIVE_INFINITY));
    const shadows = await take(() => deleteOldShadowRuns(em, shadowsBefore));
    let files = 0;
    for await (const keysByJob of oldFiles(store, inputsBefore)) {
      if (signal?.aborted) break;
      for (const jobId of await findEndedJobs(em, [...keysByJob.keys()], inputsBefore)) {
        for (const key of keysByJob.get(jobId) ?? []) {
          await store.remove(key);
          files += 1;
        }
      }
    }
    if (events + dispatches + uploads + results + shadows + files > 0) {
      logger.info({ events, dispatches, uploads, results, shadows, files }, 'forgotten after their time');
    }
  };
  return async function sweepRetention() {
    isMore = false;
    await onOneReplica(orm.em.fork(), 'retention', pass);
    return isMore;
  };
}

/** Keys of job files written before a time, grouped by job, a bounded number of jobs at a time. */
async function* oldFiles(store: ObjectStore, before: Date): AsyncGenerator<Map<string, string[]>> {
  let keysByJob = new Map<string, string[]>();
  for await (const { key, modifiedAt } of store.list('jobs')) {
    const jobId = ownerOf(key);
    if (modifiedAt >= before) continue;
    if (keysByJob.size === JOBS_AT_ONCE && !keysByJob.has(jobId)) {
      yield keysByJob;
      keysByJob = new Map();
    }
    keysByJob.set(jobId, [...(keysByJob.get(jobId) ?? []), key]);
  }
  yield keysByJob;
}
