import { type EntityManager, query } from '../platform/database/orm.ts';
import { newId } from '../platform/ids.ts';
import { renderLowBalanceEvent } from './credit-event.ts';

const BATCH = 200;
const TYPE = 'credits.low_balance';

interface Crossing {
  organization_id: string;
  livemode: boolean;
  balance: string;
  threshold: string;
  crossed_at: Date;
}

/** Writes an event for each balance that fell below its threshold: once, even with concurrent callers. */
export async function publishLowBalanceEvents(em: EntityManager): Promise<void> {
  await em.transactional(async (em) => {
    const crossings = await query<Crossing>(
      em,
      `delete from low_balance_crossings where id in (
         select id from low_balance_crossings order by id limit $1 for update skip locked
       )
       returning organization_id, livemode, balance, threshold, crossed_at`,
      [BATCH],
    );
    for (const { organization_id: organizationId, livemode, ...crossing } of crossings) {
      const id = newId('event');
      const createdAt = new Date(crossing.crossed_at);
      const payload = renderLowBalanceEvent({
        id,
        type: TYPE,
        livemode,
        balance: Number(crossing.balance),
        threshold: Number(crossing.threshold),
        createdAt,
      });
      await query(
        em,
        `insert into events (id, organization_id, livemode, is_staging, type, payload, created_at)
         values ($1, $2, $3, false, $4, $5, $6)`,
        [id, organizationId, livemode, TYPE, payload, createdAt],
      );
    }
  });
}
