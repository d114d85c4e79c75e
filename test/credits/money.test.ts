import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditsInCents, creditsInUsd, payableUnit } from '../../src/credits/money.ts';

describe('credits in dollars', () => {
  it.each([
    [20, 1000, '0.02'],
    [1500, 1000, '1.50'],
    [1, 1000, '0.001'],
    [0, 1000, '0.00'],
    [-12_345, 1000, '-12.345'],
    [1, 100, '0.01'],
    [1, 3, '0.333333'],
    [2, 3, '0.666667'],
    [1_000_000_000, 1, '1000000000.00'],
  ])('%d credits at %d per dollar are %s dollars', (credits, creditsPerUsd, usd) => {
    expect(creditsInUsd(credits, creditsPerUsd)).toBe(usd);
  });

  it('credits in dollars are exact when six decimals suffice', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(10 ** 12), max: 10 ** 12 }), (credits) => {
        const [whole = '', decimals = ''] = creditsInUsd(credits, 1000).replace('-', '').split('.');
        const thousandths = BigInt(whole) * 1000n + BigInt(decimals.padEnd(3, '0'));
        expect(thousandths).toBe(BigInt(Math.abs(credits)));
      }),
    );
  });
});

describe('credits in cents', () => {
  it.each([
    [10, 1000, 1],
    [15, 1000, null],
    [3, 100, 3],
    [1, 1, 100],
    [4, 3, null],
  ])('%d credits at %d per dollar are %p cents', (credits, creditsPerUsd, cents) => {
    expect(creditsInCents(credits, creditsPerUsd)).toBe(cents);
  });

  it('credits are whole cents exactly for the multiples of the payable unit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 1, max: 5_000 }),
        (credits, creditsPerUsd) => {
          expect(creditsInCents(credits, creditsPerUsd) !== null).toBe(credits % payableUnit(creditsPerUsd) === 0);
        },
      ),
    );
  });
});
