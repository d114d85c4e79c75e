/** Expires promotional grants, publishes events of low balances, and closes what statements and usage add up. */
import type { Logger } from 'pino';
import { expireGrants, findBalancesWithExpiredGrants } from '../credits/credit-grants-store.ts';
import { publishLowBalanceEvents } from '../credits/low-balance-events-store.ts';
import { closeMonths } from '../credits/statements-store.ts';
import { closeUsage } from '../credits/usage-store.ts';
import { inBatches } from '../platform/database/in-batches.ts';
import { onOneReplica } from '../platform/database/one-replica.ts';
import type { MikroORM } from '../platform/database/orm.ts';

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

/** One pass over the accounts of whose ledger statements need not read all. Returns whether there is more to do. */
export const sweepMonths = (dependencies: Dependencies) =>
  closeOnOneReplica('months', dependencies, { close: closeMonths, message: 'months closed' });

/** One pass over the organisations of whose jobs usage need not read all. Returns whether there is more to do. */
export const sweepUsage = (dependencies: Dependencies) =>
  closeOnOneReplica('usage', dependencies, { close: closeUsage, message: 'usage closed' });

async function closeOnOneReplica(
  work: 'months' | 'usage',
  { orm, logger, clock = () => new Date(), signal }: Dependencies,
  { close, message }: { close: typeof closeMonths; message: string },
): Promise<boolean> {
  let isMore = false;
  await onOneReplica(orm.em.fork(), work, async () => {
    const { rows: accounts, hasMore } = await inBatches(() => close(orm.em.fork(), clock()), signal);
    if (accounts > 0) logger.info({ accounts }, message);
    isMore = hasMore;
  });
  return isMore;
}
