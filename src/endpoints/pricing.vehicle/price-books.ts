/** The price books, and the currencies that amounts convert to. */

/** By name: the market that a book covers. Its amounts are in EUR. */
export const PRICE_BOOKS = { 'eu-de': { country: 'DE' } } as const;

/** The first model year that a book covers. Older vehicles are sold at auctions, which no book observes. */
export const EARLIEST_MODEL_YEAR = 1950;

/**
 * By ISO 4217 code: minor units per euro cent. The rates are fixed so that test mode is deterministic. The yen has no minor
 * unit.
 */
export const MINOR_UNITS_PER_EURO_CENT = { EUR: 1, CHF: 0.95, GBP: 0.85, JPY: 1.6, USD: 1.1 } as const;
