/**
 * How promotional credits are used up.
 *
 * They go before all others, the earliest expiry first, and so do holds. A charge does not say which grant it used: that
 * follows from the sum of the charges, and is worked out when a grant is given or expires, or when somebody looks.
 * Working it out in one step or in several comes to the same.
 */

export interface Grant {
  id: string;
  /** What was given, in credits. */
  amount: number;
  /** What was used so far. */
  consumed: number;
  /** What was taken back so far. */
  expired: number;
  expiresAt: Date;
}

/** What of a grant is neither used nor taken back. */
export function leftOf({ amount, consumed, expired }: Grant): number {
  return amount - consumed - expired;
}

export function leftOfAll(grants: readonly Grant[]): number {
  return grants.reduce((sum, grant) => sum + leftOf(grant), 0);
}

/**
 * The grants of an account after its jobs were charged `captured` credits more and its balance came to `balance`.
 * Where an adjustment has taken more than there was beside the grants, the rest of it comes from them.
 */
export function useGrants(
  grants: readonly Grant[],
  { captured, balance }: { captured: number; balance: number },
): Grant[] {
  const used = consume(grants, captured);
  return consume(used, Math.max(0, leftOfAll(used) - balance));
}

/**
 * What is taken back of the grants whose time is over: all that is left of them, but for what open holds cover. That
 * part is looked at again when the holds have ended.
 */
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
