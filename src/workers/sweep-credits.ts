/** Expires promotional grants and publishes events of low balances. */
import type { Logger } from 'pino';
import { expireGrants, findBalancesWithExpiredGrants } from '../credits/credit-grants-store.ts';
import { publishLowBalanceEvents } from '../credits/low-balance-events-store.ts';
import type { MikroORM } from '../platform/database/orm.ts';

interface Dependencies {
  orm: MikroORM;
  logger: Logger;
  clock?: () => Date;
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
