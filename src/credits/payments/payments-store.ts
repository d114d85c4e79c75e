/** Books payments and refunds, each once. */
import { ensureOrganization } from '../../organizations/organizations-store.ts';
import { type EntityManager, query } from '../../platform/database/orm.ts';
import { lockAccount } from '../credit-accounts-store.ts';
import { bookAdjustment, topUp } from '../credit-bookings-store.ts';

export interface Payment {
  /** Id of the payment, with its provider. */
  reference: string;
  organizationId: string;
  credits: number;
}

/** Adds the credits of a payment. Returns false when the payment is already booked. */
export function bookPayment(em: EntityManager, { reference, organizationId, credits }: Payment): Promise<boolean> {
  return em.transactional(async (em) => {
    await ensureOrganization(em, organizationId);
    return topUp(em, {
      organizationId,
      livemode: true,
      amount: credits,
      reason: 'payment',
      externalReference: reference,
    });
  });
}

export interface Refund {
  /** Id of the refunded payment. */
  reference: string;
  /** Total refunded so far, in the same unit as `amountPaid`. */
  amountRefunded: number;
  amountPaid: number;
}

export interface RefundOutcome {
  /** Credits removed from the balance. */
  taken: number;
  /** Refunded credits that were no longer available. */
  missing: number;
}

/**
 * Removes the credits of a payment in proportion to its refund, as far as they are available; held and spent credits stay.
 * A repeated notification removes nothing. Returns null when the payment is not booked.
 */
export function bookRefund(
  em: EntityManager,
  { reference, amountRefunded, amountPaid }: Refund,
): Promise<RefundOutcome | null> {
  return em.transactional(async (em) => {
    const [payment] = await query<{ organization_id: string; livemode: boolean; amount: string }>(
      em,
      "select organization_id, livemode, amount from credit_transfers where external_reference = $1 and kind = 'top_up'",
      [reference],
    );
    if (!payment) return null;
    const account = await lockAccount(em, { organizationId: payment.organization_id, livemode: payment.livemode });
    const refunds = `${reference}:refunded:`;
    const [before] = await query<{ taken: string }>(
      em,
      `select coalesce(sum(amount), 0) as taken from credit_transfers
       where organization_id = $1 and livemode = $2 and job_id is null and starts_with(external_reference, $3)`,
      [account.organizationId, account.livemode, refunds],
    );
    const refunded = Number((BigInt(payment.amount) * BigInt(amountRefunded)) / BigInt(amountPaid));
    const due = Math.max(0, refunded - Number(before?.taken ?? 0));
    const taken = Math.min(due, account.available);
    if (taken === 0) return { taken, missing: due };
    const isNew = await bookAdjustment(em, account, {
      change: -taken,
      reason: 'refund of a payment',
      externalReference: refunds + amountRefunded,
    });
    return isNew ? { taken, missing: due - taken } : { taken: 0, missing: due };
  });
}
