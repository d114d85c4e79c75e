import { renderLowBalanceEvent } from '../../domain/credit-event.ts';
import { newId } from '../../domain/ids.ts';
import { type EntityManager, query } from '../orm.ts';

const BATCH = 200;
const TYPE = 'credits.low_balance';

interface Crossing {
  organization_id: string;
  livemode: boolean;
  balance: string;
  threshold: string;
  crossed_at: Date;
}

/** Makes an event of each balance that fell below its threshold: once, also when several processes do so together. */
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
