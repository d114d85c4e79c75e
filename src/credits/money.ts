/** Credits as money. Amounts are exact decimal text, never floating point. */

const MICROS_PER_USD = 1_000_000n;
const CENTS_PER_USD = 100;

/** The value of credits in US dollars, as `12.50` or `0.015`: at least two decimals, rounded to at most six. */
export function creditsInUsd(credits: number, creditsPerUsd: number): string {
  const sign = credits < 0 ? '-' : '';
  const perUsd = BigInt(creditsPerUsd);
  const micros = (BigInt(Math.abs(credits)) * MICROS_PER_USD * 2n + perUsd) / (perUsd * 2n);
  const decimals = String(micros % MICROS_PER_USD).padStart(6, '0');
  return `${sign}${micros / MICROS_PER_USD}.${decimals.replace(/0{1,4}$/, '')}`;
}

/** The price of credits in US cents, or null when it is not a whole number. */
export function creditsInCents(credits: number, creditsPerUsd: number): number | null {
  const cents = BigInt(credits) * BigInt(CENTS_PER_USD);
  return cents % BigInt(creditsPerUsd) === 0n ? Number(cents / BigInt(creditsPerUsd)) : null;
}

/** The smallest number of credits that costs whole cents; every payable amount is a multiple of it. */
export function payableUnit(creditsPerUsd: number): number {
  return creditsPerUsd / greatestCommonDivisor(creditsPerUsd, CENTS_PER_USD);
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}
