/**
 * The check digit of a vehicle identification number (ISO 3779; computed as in SAE J853 and 49 CFR 565): the ninth
 * character, `0` to `9`, or `X` for ten.
 */

const LENGTH = 17;
const PLACE = 8;
/** The check digit itself has weight 0. */
const WEIGHTS = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2] as const;
const MODULUS = 11;

/** A VIN never contains I, O or Q: they look like 1 and 0. */
const VALUES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Array.from('0123456789', (digit) => [digit, Number(digit)])),
  ...Object.fromEntries(Array.from('ABCDEFGH', (letter, index) => [letter, index + 1])),
  ...Object.fromEntries(Array.from('JKLMN', (letter, index) => [letter, index + 1])),
  P: 7,
  R: 9,
  ...Object.fromEntries(Array.from('STUVWXYZ', (letter, index) => [letter, index + 2])),
};

/** First characters of VINs that must have a check digit: North America (49 CFR 565, CMVSS 115) and China (GB 16735). */
const CHECKED_MARKETS = /^[1-5L]/;

/** By the region of its world manufacturer identifier. Elsewhere the ninth character may be anything. */
export function requiresCheckDigit(vin: string): boolean {
  return CHECKED_MARKETS.test(vin);
}

export interface CheckDigit {
  /** The ninth character; null if it is not a VIN character. */
  found: string | null;
  /** Computed from the other sixteen; null if one of them is not a VIN character. */
  expected: string | null;
  /** Null if either is null. */
  valid: boolean | null;
}

/**
 * @param vin seventeen upper-case characters; `?` for an unknown one
 * @throws RangeError for another length
 */
export function checkDigit(vin: string): CheckDigit {
  if (vin.length !== LENGTH) throw new RangeError(`a VIN has ${LENGTH} characters, this one ${vin.length}`);
  const character = vin.charAt(PLACE);
  const found = VALUES[character] === undefined ? null : character;
  const expected = expectedDigit(vin);
  return { found, expected, valid: found === null || expected === null ? null : found === expected };
}

function expectedDigit(vin: string): string | null {
  let sum = 0;
  for (const [place, weight] of WEIGHTS.entries()) {
    if (place === PLACE) continue;
    const value = VALUES[vin.charAt(place)];
    if (value === undefined) return null;
    sum += weight * value;
  }
  const remainder = sum % MODULUS;
  return remainder === 10 ? 'X' : String(remainder);
}
