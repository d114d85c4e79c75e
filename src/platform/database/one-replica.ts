import { type EntityManager, query } from './orm.ts';

/** First half of the keys of advisory locks: apart from those of other users of the database. */
const LOCK_SPACE = 20261004;

/** Work that one replica at a time may do. The numbers are part of the protocol between replicas: never reuse one. */
const EXCLUSIVE_WORK = { storedFiles: 1, retention: 2, months: 3, usage: 4 } as const;

/**
 * Does the work unless another replica is doing it; returns whether it did. The lock belongs to a transaction, which stays
 * open meanwhile and holds nothing else back: it has no snapshot between statements. So it passes through poolers that share
 * connections, and a lost connection frees it. Two replicas may then overlap, so the work must be safe to repeat.
 */
export async function onOneReplica(
  em: EntityManager,
  work: keyof typeof EXCLUSIVE_WORK,
  doWork: () => Promise<void>,
): Promise<boolean> {
  return em.transactional(async (transaction) => {
    const [lock] = await query<{ taken: boolean }>(transaction, 'select pg_try_advisory_xact_lock($1, $2) as taken', [
      LOCK_SPACE,
      EXCLUSIVE_WORK[work],
    ]);
    if (!lock?.taken) return false;
    await doWork();
    return true;
  });
}
