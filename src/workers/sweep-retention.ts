/** Forgets what customers sent and got once its time is over, in batches that hold nobody up. */
import type { Logger } from 'pino';
import type { MikroORM } from '../db/orm.ts';
import {
  deleteOldDispatches,
  deleteOldEvents,
  deleteUsedUploads,
  findEndedJobs,
  forgetOldResults,
} from '../db/retention.ts';
import { type ObjectStore, ownerOf } from '../storage/object-store.ts';

export interface RetentionDays {
  /** Files of ended jobs, and used uploads. */
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
/** Jobs whose files are asked about at once. */
const JOBS_AT_ONCE = 500;
/** Of each kind, in one pass: the next one goes on. */
const BATCHES_AT_MOST = 200;

/** Makes the passes, each going on where the last one stopped. Replicas may make them together: each finds what is left. */
export function createRetentionSweep(dependencies: Dependencies): () => Promise<void> {
  const { orm, store, logger, retentionDays, clock = () => new Date(), signal } = dependencies;
  let resultsForgottenUpTo = '';

  const inBatches = async (take: () => Promise<{ rows: number; hasMore: boolean }>): Promise<number> => {
    let rows = 0;
    for (let batches = 0; batches < BATCHES_AT_MOST && !signal?.aborted; batches += 1) {
      const batch = await take();
      rows += batch.rows;
      if (!batch.hasMore) break;
    }
    return rows;
  };

  return async function sweepRetention() {
    const em = orm.em.fork();
    const daysAgo = (days: number) => new Date(clock().getTime() - days * DAY_MS);
    const inputsBefore = daysAgo(retentionDays.inputs);
    const events = await inBatches(() => deleteOldEvents(em, daysAgo(retentionDays.events)));
    const dispatches = await inBatches(() => deleteOldDispatches(em, daysAgo(retentionDays.events)));
    const uploads = await inBatches(async () => {
      const { storageKeys, ...batch } = await deleteUsedUploads(em.fork(), inputsBefore);
      for (const key of storageKeys) await store.remove(key);
      return batch;
    });
    const resultsBefore = retentionDays.results === null ? null : daysAgo(retentionDays.results);
    const results = await inBatches(async () => {
      if (resultsBefore === null) return { rows: 0, hasMore: false };
      const { lastId, ...batch } = await forgetOldResults(em, resultsBefore, resultsForgottenUpTo);
      resultsForgottenUpTo = lastId;
      return batch;
    });
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
    if (events + dispatches + uploads + results + files > 0) {
      logger.info({ events, dispatches, uploads, results, files }, 'forgotten after their time');
    }
  };
}

/** Keys of files of jobs that were written before a time, by job, some jobs at a time. */
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
