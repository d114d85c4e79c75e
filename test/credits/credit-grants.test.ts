import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expiriesOf, type Grant, leftOf, leftOfAll, useGrants } from '../../src/credits/credit-grants.ts';

const grants: fc.Arbitrary<Grant[]> = fc
  .array(fc.record({ amount: fc.integer({ min: 1, max: 100 }), expiresAt: fc.integer({ min: 0, max: 5 }) }), {
    maxLength: 6,
  })
  .map((given) =>
    given.map(({ amount, expiresAt }, index) => ({
      id: `grt_${index}`,
      amount,
      consumed: 0,
      expired: 0,
      expiresAt: new Date(expiresAt),
    })),
  );
const credits = fc.nat(300);

describe('the use of grants', () => {
  it('the use of grants gives the same result in one step and in two', () => {
    fc.assert(
      fc.property(grants, credits, credits, credits, (given, paid, one, other) => {
        // A charge lowers the balance by as much.
        const balanceAfter = (captured: number) => Math.max(0, leftOfAll(given) + paid - captured);
        const first = useGrants(given, { captured: one, balance: balanceAfter(one) });
        const both = useGrants(first, { captured: other, balance: balanceAfter(one + other) });
        expect(both).toEqual(useGrants(given, { captured: one + other, balance: balanceAfter(one + other) }));
      }),
    );
  });

  it('the use of grants leaves no grant negative, and no more in sum than the balance', () => {
    fc.assert(
      fc.property(grants, credits, credits, (given, captured, balance) => {
        const used = useGrants(given, { captured, balance });
        for (const grant of used) expect(leftOf(grant)).toBeGreaterThanOrEqual(0);
        expect(leftOfAll(used)).toBeLessThanOrEqual(balance);
      }),
    );
  });

  it('a grant is used only after all that expire earlier', () => {
    fc.assert(
      fc.property(grants, credits, (given, captured) => {
        const used = useGrants(given, { captured, balance: Number.MAX_SAFE_INTEGER });
        const latestTouched = Math.max(-1, ...used.filter((one) => one.consumed > 0).map((one) => +one.expiresAt));
        for (const grant of used) if (+grant.expiresAt < latestTouched) expect(leftOf(grant)).toBe(0);
      }),
    );
  });
});

it('the part of overdue grants that no hold covers expires', () => {
  fc.assert(
    fc.property(grants, credits, fc.integer({ min: 0, max: 5 }), (given, held, at) => {
      const now = new Date(at);
      const due = leftOfAll(given.filter(({ expiresAt }) => expiresAt <= now));
      const expired = expiriesOf(given, { held, now }).reduce((sum, { amount }) => sum + amount, 0);
      expect(expired).toBe(Math.max(0, due - held));
    }),
  );
});
