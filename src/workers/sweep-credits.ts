/** Expires promotional grants, publishes events of low balances, and closes what statements and usage add up. */
import type { Logger } from 'pino';
import type { ClosedBatch } from '../credits/closing.ts';
import { expireGrants, findBalancesWithExpiredGrants } from '../credits/credit-grants-store.ts';
import { publishLowBalanceEvents } from '../credits/low-balance-events-store.ts';
import { closeMonths } from '../credits/statements-store.ts';
import { closeUsage } from '../credits/usage-store.ts';
import { onOneReplica } from '../platform/database/one-replica.ts';
import type { EntityManager, MikroORM } from '../platform/database/orm.ts';

interface Dependencies {
  orm: MikroORM;
  logger: Logger;
  clock?: () => Date;
  /** Ends a long pass early. */
  signal?: AbortSignal;
}

/** One pass. Replicas may run it concurrently: what one has booked, another finds done. */
export async function sweepCredits({ orm, logger, clock = () => new Date() }: Dependencies): Promise<void> {
  const em = orm.em.fork();
  await publishLowBalanceEvents(em);
  const now = clock();
  for (const balance of await findBalancesWithExpiredGrants(em, now)) {
    try {
      const credits = await expireGrants(em, balance, now);
      if (credits > 0) logger.info({ ...balance, credits }, 'promotional credits expired');
    } catch (err) {
      // A balance that fails must not block those behind it.
      logger.warn({ ...balance, err }, 'promotional credits not expired; the next pass tries again');
    }
  }
}

/** One pass over the accounts of whose ledger statements need not read all. */
export const sweepMonths = (dependencies: Dependencies) => closeOnOneReplica('months', dependencies, closeMonths);

/** One pass over the organisations of whose jobs usage need not read all. */
export const sweepUsage = (dependencies: Dependencies) => closeOnOneReplica('usage', dependencies, closeUsage);

async function closeOnOneReplica<Key>(
  work: 'months' | 'usage',
  { orm, logger, clock = () => new Date(), signal }: Dependencies,
  close: (em: EntityManager, now: Date, after: Key | null) => Promise<ClosedBatch<Key>>,
): Promise<void> {
  await onOneReplica(orm.em.fork(), work, async () => {
    let accounts = 0;
    for (let after: Key | null = null; !signal?.aborted; ) {
      const { closed, last } = await close(orm.em.fork(), clock(), after);
      accounts += closed;
      // A batch of which some were closed may have further months.
      if (closed > 0) continue;
      if (last === null) break;
      after = last;
    }
    if (accounts > 0) logger.info({ accounts }, `${work} closed`);
  });
}
