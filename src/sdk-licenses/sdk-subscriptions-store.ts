/** Paid SDK subscriptions, as the operator's payment integration reports them through `npm run subscriptions`. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import type { PaidPeriod } from './sdk-licenses.ts';

export interface SdkSubscription {
  canceledAt: Date | null;
  /** In chronological order, without overlaps. */
  periods: PaidPeriod[];
}

/**
 * Records a paid period, in whole seconds. A period with the same start is the same period: its end and quota change, and
 * its licences stay. A canceled subscription becomes active again.
 * @throws Error when another period overlaps
 */
export async function setPaidPeriod(
  em: EntityManager,
  organizationId: string,
  { maxSdks, ...period }: PaidPeriod,
): Promise<void> {
  const [paidFrom, paidUntil] = [wholeSecond(period.paidFrom), wholeSecond(period.paidUntil)];
  await em.transactional(async (em) => {
    // Locks the row until the transaction ends, so that no licence is issued by the old terms.
    await query(
      em,
      `insert into sdk_subscriptions (organization_id) values ($1)
       on conflict (organization_id) do update set canceled_at = null`,
      [organizationId],
    );
    const [overlapping] = await query<{ paid_from: string | Date; paid_until: string | Date }>(
      em,
      `select paid_from, paid_until from sdk_paid_periods
       where organization_id = $1 and paid_from <> $2 and paid_from < $3 and $2 < paid_until limit 1`,
      [organizationId, paidFrom, paidUntil],
    );
    if (overlapping) {
      const [from, until] = [overlapping.paid_from, overlapping.paid_until].map((time) => new Date(time).toISOString());
      throw new Error(`The period overlaps the paid one from ${from} until ${until}.`);
    }
    await query(
      em,
      `insert into sdk_paid_periods (organization_id, paid_from, paid_until, max_sdks) values ($1, $2, $3, $4)
       on conflict (organization_id, paid_from) do update
         set paid_until = excluded.paid_until, max_sdks = excluded.max_sdks`,
      [organizationId, paidFrom, paidUntil, maxSdks],
    );
  });
}

/** Rounds down: PostgreSQL would round up half the time, and a period starting now would start in the future. */
const wholeSecond = (time: Date) => new Date(Math.floor(time.getTime() / 1_000) * 1_000);

/** Records a cancellation; paid periods stay. Returns whether there was a subscription. */
export async function cancelSubscription(em: EntityManager, organizationId: string, now: Date): Promise<boolean> {
  const canceled = await query(
    em,
    `update sdk_subscriptions set canceled_at = coalesce(canceled_at, $2)
     where organization_id = $1 returning organization_id`,
    [organizationId, now],
  );
  return canceled.length > 0;
}

/** Returns null for an organisation that never paid. */
export async function readSubscription(em: EntityManager, organizationId: string): Promise<SdkSubscription | null> {
  const rows = await query<{
    canceled_at: string | Date | null;
    paid_from: string | Date;
    paid_until: string | Date;
    max_sdks: number;
  }>(
    em,
    `select subscription.canceled_at, period.paid_from, period.paid_until, period.max_sdks
     from sdk_subscriptions as subscription join sdk_paid_periods as period using (organization_id)
     where organization_id = $1 order by period.paid_from`,
    [organizationId],
  );
  const [first] = rows;
  if (!first) return null;
  return {
    canceledAt: first.canceled_at === null ? null : new Date(first.canceled_at),
    periods: rows.map(({ paid_from, paid_until, max_sdks }) => ({
      paidFrom: new Date(paid_from),
      paidUntil: new Date(paid_until),
      maxSdks: max_sdks,
    })),
  };
}
