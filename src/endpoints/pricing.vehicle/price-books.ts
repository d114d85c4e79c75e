/** What valuations are made by: the books that there are, and the currencies that their amounts are told in. */

/** By name: whose market a book tells. Its amounts are in EUR. */
export const PRICE_BOOKS = { 'eu-de': { country: 'DE' } } as const;

/**
 * By ISO 4217 code: how many of its minor units one euro cent is, fixed so that test mode answers the same every time. The
 * yen has no smaller unit.
 */
export const MINOR_UNITS_PER_EURO_CENT = { EUR: 1, CHF: 0.95, GBP: 0.85, JPY: 1.6, USD: 1.1 } as const;
