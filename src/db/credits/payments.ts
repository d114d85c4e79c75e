/** Books what the payment provider tells: each payment and each refund once. */

import { ensureOrganization } from '../organizations/organizations.ts';
import { type EntityManager, query } from '../orm.ts';
import { lockAccount } from './credit-accounts.ts';
import { bookAdjustment, topUp } from './credits.ts';

export interface Payment {
  /** Names it, at whichever provider. */
  reference: string;
  organizationId: string;
  credits: number;
}

/** Adds the credits that were paid for. Answers false where the payment was booked before. */
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
  /** Of the payment. */
  reference: string;
  /** All that was paid back of it so far, and what was paid, in the same unit. */
  amountRefunded: number;
  amountPaid: number;
}

export interface RefundOutcome {
  /** Credits that left the balance. */
  taken: number;
  /** Credits that were paid back and are no longer there to take. */
  missing: number;
}

/**
 * Takes back the credits of a payment in the measure in which it was refunded, as far as they are available: what is
 * held or spent stays. A refund that is told again takes nothing. Null: the payment itself is not booked.
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
