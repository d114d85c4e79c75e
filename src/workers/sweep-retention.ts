/** Deletes customers' data after its retention time, in batches that block nobody. */
import type { Logger } from 'pino';
import {
  deleteOldDispatches,
  deleteOldEvents,
  deleteUsedUploads,
  findEndedJobs,
  forgetOldResults,
} from '../jobs/retention-store.ts';
import { type Batch, inBatches } from '../platform/database/in-batches.ts';
import { onOneReplica } from '../platform/database/one-replica.ts';
import type { MikroORM } from '../platform/database/orm.ts';
import { type ObjectStore, ownerOf } from '../platform/storage/object-store.ts';
import { pagesOfKeys } from '../platform/storage/pages-of-keys.ts';
import { deleteOldShadowRuns } from '../releases/shadow-runs-store.ts';
import { createRemover, takeEach } from './past-failures.ts';

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
/** Files in memory, and jobs looked up in one statement. */
const FILES_PAGE = 500;

/**
 * Returns a pass that continues where the last one stopped, unless another replica is making one, and tells whether there is more
 * to do.
 */
export function createRetentionSweep(dependencies: Dependencies): () => Promise<boolean> {
  const { orm, store, logger, retentionDays, clock = () => new Date(), signal } = dependencies;
  let resultsForgottenUpTo = '';
  let isMore = false;

  const pass = async () => {
    const em = orm.em.fork();
    const daysAgo = (days: number) => new Date(clock().getTime() - days * DAY_MS);
    const inputsBefore = daysAgo(retentionDays.inputs);
    const resultsBefore = retentionDays.results === null ? null : daysAgo(retentionDays.results);
    // With a job's files or its result, whichever goes first.
    const shadowsBefore = daysAgo(Math.min(retentionDays.inputs, retentionDays.results ?? Number.POSITIVE_INFINITY));
    const remover = createRemover(store);
    const forgotten = { events: 0, dispatches: 0, results: 0, shadows: 0, uploads: 0, files: 0 };

    const take = async (what: keyof typeof forgotten, batch: () => Promise<Batch>): Promise<void> => {
      const { hasMore } = await inBatches(async () => {
        const taken = await batch();
        forgotten[what] += taken.rows;
        return taken;
      }, signal);
      isMore ||= hasMore;
    };
    const forgetResults = async () => {
      if (resultsBefore === null) return { rows: 0, hasMore: false };
      const { lastId, ...batch } = await forgetOldResults(em, resultsBefore, resultsForgottenUpTo);
      resultsForgottenUpTo = lastId;
      return batch;
    };
    const deleteUploads = async () => {
      const { storageKeys, ...batch } = await deleteUsedUploads(em.fork(), inputsBefore);
      // A file that stays has no owner any more: the sweep of stored files tries again.
      await remover.remove(storageKeys);
      return batch;
    };
    // Found by the listing, in the next pass too where one stays.
    const deleteFiles = async () => {
      const pages = pagesOfKeys(store.list('jobs'), { writtenBefore: inputsBefore, pageSize: FILES_PAGE, signal });
      for await (const page of pages) {
        const ended = new Set(await findEndedJobs(em, [...new Set(page.map(ownerOf))], inputsBefore));
        forgotten.files += (await remover.remove(page.filter((key) => ended.has(ownerOf(key))))).length;
      }
    };
    try {
      await takeEach([
        () => take('events', () => deleteOldEvents(em, daysAgo(retentionDays.events))),
        () => take('dispatches', () => deleteOldDispatches(em, daysAgo(retentionDays.events))),
        () => take('results', forgetResults),
        () => take('shadows', () => deleteOldShadowRuns(em, shadowsBefore)),
        () => take('uploads', deleteUploads),
        deleteFiles,
      ]);
    } finally {
      remover.logFailures(logger);
      if (Object.values(forgotten).some((count) => count > 0)) logger.info(forgotten, 'forgotten after their time');
    }
  };
  return async function sweepRetention() {
    isMore = false;
    await onOneReplica(orm.em.fork(), 'retention', pass);
    return isMore;
  };
}
