/** What is due with credits: grants whose time is over, and events of low balances. */
import type { Logger } from 'pino';
import { expireGrants, findBalancesWithExpiredGrants } from '../db/credits/credit-grants.ts';
import { publishLowBalanceEvents } from '../db/credits/low-balance-events.ts';
import type { MikroORM } from '../db/orm.ts';

interface Dependencies {
  orm: MikroORM;
  logger: Logger;
  clock?: () => Date;
}

/** One pass. Several replicas may make it together: what one has booked, another finds done. */
export async function sweepCredits({ orm, logger, clock = () => new Date() }: Dependencies): Promise<void> {
  const em = orm.em.fork();
  await publishLowBalanceEvents(em);
  const now = clock();
  for (const balance of await findBalancesWithExpiredGrants(em, now)) {
    try {
      const credits = await expireGrants(em, balance, now);
      if (credits > 0) logger.info({ ...balance, credits }, 'promotional credits expired');
    } catch (err) {
      // One that fails must not keep those behind it from theirs.
      logger.warn({ ...balance, err }, 'promotional credits not expired; the next pass tries again');
    }
  }
}
