/** Amounts of money in national notations: 1.234,56 and 1,234.56 and 1'234.56 and 1 234,56. */
import type { Parsed } from './parse-date.ts';

export interface Amount {
  /** In the minor unit of the currency. */
  minor: number;
  /** ISO 4217; null when none is printed beside it. */
  currency: string | null;
}

/** As printed, without case. A lone `$` or `kr` names several currencies. All these have 100 minor units. */
const CURRENCIES: Readonly<Record<string, string>> = {
  '€': 'EUR',
  EUR: 'EUR',
  EURO: 'EUR',
  '£': 'GBP',
  GBP: 'GBP',
  CHF: 'CHF',
  FR: 'CHF',
  PLN: 'PLN',
  ZŁ: 'PLN',
  ZL: 'PLN',
  CZK: 'CZK',
  KČ: 'CZK',
  USD: 'USD',
  US$: 'USD',
  CAD: 'CAD',
  SEK: 'SEK',
  NOK: 'NOK',
  DKK: 'DKK',
  HUF: 'HUF',
  RON: 'RON',
};
const NAMES = '€|EURO?|£|GBP|CHF|PLN|zł|zl|CZK|Kč|USD|US\\$|\\$|CAD|SEK|NOK|DKK|HUF|RON';
/** Groups of three with one separator, then two decimals; or `.-` and `,-` for none. */
const NUMBER = "(?:\\d{1,3}(?:\\.\\d{3})+|\\d{1,3}(?:,\\d{3})+|\\d{1,3}(?:[ '’]\\d{3})+|\\d{1,7})";
const PATTERN = new RegExp(
  `(?:(${NAMES})\\s?)?(?<![\\d.,])(${NUMBER})(?:([.,])(\\d{2}|-{1,2}|–))?(?![\\d%]|[.,]\\d|\\s?%)(?:\\s?(${NAMES})(?!\\p{L}))?`,
  'giu',
);

/** The last amount in a text: rates and quantities precede it. A number without decimals or currency is none. */
export function parseAmount(text: string): Parsed<Amount> | null {
  const found = [...text.matchAll(PATTERN)].flatMap((match) => {
    const [all, before, whole, separator, decimals, after] = match;
    const name = before ?? after;
    if (whole === undefined || (decimals === undefined && name === undefined)) return [];
    // 1.234.56 and 1,234,56 are misread.
    if (separator !== undefined && whole.includes(separator)) return [];
    const cents = decimals !== undefined && /^\d/.test(decimals) ? Number(decimals) : 0;
    const minor = 100 * Number(whole.replace(/\D/g, '')) + cents;
    const start = match.index + all.length - all.trimStart().length;
    const currency = name === undefined ? null : (CURRENCIES[name.toUpperCase()] ?? null);
    return [{ value: { minor, currency }, start, end: match.index + all.trimEnd().length }];
  });
  return found.at(-1) ?? null;
}

/** The only currency that a document names; null for none or several. */
export function onlyCurrency(texts: readonly string[]): string | null {
  const pattern = new RegExp(`(?<!\\p{L})(${NAMES})(?!\\p{L})`, 'giu');
  const named = texts.flatMap((text) => [...text.matchAll(pattern)].map(([name]) => CURRENCIES[name.toUpperCase()]));
  const currencies = new Set(named.filter((currency) => currency !== undefined));
  const [only] = currencies;
  return currencies.size === 1 ? (only ?? null) : null;
}
