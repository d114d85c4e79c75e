/** Removes stored files that nobody owns any more: expired artefacts, interrupted writes, files without a row. */
import type { Logger } from 'pino';
import { ARTEFACT_LIFETIME_MS } from '../contracts/media-limits.ts';
import { findUnknownOwners } from '../jobs/file-owners-store.ts';
import { onOneReplica } from '../platform/database/one-replica.ts';
import type { MikroORM } from '../platform/database/orm.ts';
import { type ObjectStore, ownerOf } from '../platform/storage/object-store.ts';
import { pagesOfKeys } from '../platform/storage/pages-of-keys.ts';
import { createRemover, takeEach } from './past-failures.ts';

interface Dependencies {
  orm: MikroORM;
  store: ObjectStore;
  logger: Logger;
  clock?: () => Date;
  /** Ends a pass after its current page. */
  signal?: AbortSignal;
}

/** Longer than any request takes from its first stored byte to its commit. */
const ORPHANED_AFTER_MS = 60 * 60_000;
/** Files in memory, and owners in one statement. */
export const STORED_FILES_PAGE = 500;

/** One pass over the whole store, unless another replica is making one. */
export async function sweepStoredFiles(dependencies: Dependencies): Promise<void> {
  await onOneReplica(dependencies.orm.em.fork(), 'storedFiles', () => sweep(dependencies));
}

async function sweep({ orm, store, logger, clock = () => new Date(), signal }: Dependencies): Promise<void> {
  const em = orm.em.fork();
  const pagesUnder = (prefix: string, ageMs: number) =>
    pagesOfKeys(store.list(prefix), {
      writtenBefore: new Date(clock().getTime() - ageMs),
      pageSize: STORED_FILES_PAGE,
      signal,
    });
  const remover = createRemover(store);
  const removeExpired = async () => {
    for await (const page of pagesUnder('artefacts', ARTEFACT_LIFETIME_MS)) await remover.remove(page);
  };
  const removeOrphans = async (table: 'jobs' | 'uploads') => {
    for await (const page of pagesUnder(table, ORPHANED_AFTER_MS)) {
      const unknown = new Set(await findUnknownOwners(em, table, [...new Set(page.map(ownerOf))]));
      const removed = await remover.remove(page.filter((key) => unknown.has(ownerOf(key))));
      if (removed.length > 0) logger.info({ owners: [...new Set(removed.map(ownerOf))] }, 'orphaned objects removed');
    }
  };
  try {
    await takeEach([
      removeExpired,
      () => store.removeUnfinished(new Date(clock().getTime() - ORPHANED_AFTER_MS), signal),
      () => removeOrphans('jobs'),
      () => removeOrphans('uploads'),
    ]);
  } finally {
    remover.logFailures(logger);
  }
}
