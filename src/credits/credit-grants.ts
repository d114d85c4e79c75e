/**
 * How promotional credits are used.
 *
 * They are used before paid credits, earliest expiry first, and holds follow the same order. A charge does not record
 * which grant it used: that follows from the sum of the charges, and is computed when a grant is given or expires, or when
 * it is read (ADR 0015). One computation over several charges gives the same result as one for each.
 */

export interface Grant {
  id: string;
  /** Credits granted. */
  amount: number;
  /** Credits used so far. */
  consumed: number;
  /** Credits removed at expiry so far. */
  expired: number;
  expiresAt: Date;
}

/** Credits of a grant that are neither used nor expired. */
export function leftOf({ amount, consumed, expired }: Grant): number {
  return amount - consumed - expired;
}

export function leftOfAll(grants: readonly Grant[]): number {
  return grants.reduce((sum, grant) => sum + leftOf(grant), 0);
}

/**
 * Returns the grants after `captured` more credits were charged and the balance is `balance`. An adjustment that took more
 * than the paid credits takes the rest from the grants.
 */
export function useGrants(
  grants: readonly Grant[],
  { captured, balance }: { captured: number; balance: number },
): Grant[] {
  const used = consume(grants, captured);
  return consume(used, Math.max(0, leftOfAll(used) - balance));
}

/** Returns what to remove of expired grants: everything left, except the part covered by open holds. */
export function expiriesOf(
  grants: readonly Grant[],
  { held, now }: { held: number; now: Date },
): { grantId: string; amount: number }[] {
  let cover = held;
  return byExpiry(grants)
    .filter(({ expiresAt }) => expiresAt <= now)
    .flatMap((grant) => {
      const covered = Math.min(cover, leftOf(grant));
      cover -= covered;
      const amount = leftOf(grant) - covered;
      return amount > 0 ? [{ grantId: grant.id, amount }] : [];
    });
}

function consume(grants: readonly Grant[], credits: number): Grant[] {
  let open = credits;
  return byExpiry(grants).map((grant) => {
    const taken = Math.min(open, leftOf(grant));
    open -= taken;
    return { ...grant, consumed: grant.consumed + taken };
  });
}

function byExpiry(grants: readonly Grant[]): Grant[] {
  return grants.toSorted(
    (one, other) => one.expiresAt.getTime() - other.expiresAt.getTime() || (one.id < other.id ? -1 : 1),
  );
}
