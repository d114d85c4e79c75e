/** Reads a small CSV file of exchange rates: `rated_on,base,quote,rate`. */
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import type { CurrencyRate } from './currency-rates-store.ts';
import { PriceFileError } from './read-price-file.ts';

const COLUMNS = ['rated_on', 'base', 'quote', 'rate'];
const MOST_BYTES = 10_000_000;

/** @throws PriceFileError that names the first wrong line */
export async function readRatesFile(path: string): Promise<CurrencyRate[]> {
  const bytes = await readFile(path).catch((error: Error) => {
    throw new PriceFileError(`The file cannot be read: ${error.message}.`);
  });
  if (bytes.length > MOST_BYTES) throw new PriceFileError(`The file has more than ${MOST_BYTES} bytes.`);
  const [header, ...records] = parseText(bytes.toString());
  if (header?.join() !== COLUMNS.join()) throw new PriceFileError(`The first line must be ${COLUMNS.join(',')}.`);
  return records.map((record, at) => readRate(record, at + 2));
}

function parseText(text: string): string[][] {
  try {
    return parse(text, { bom: true, trim: true, skip_empty_lines: true, relax_column_count: true });
  } catch (error) {
    throw new PriceFileError(`The file is not a CSV file: ${(error as Error).message}.`);
  }
}

function readRate([ratedOn = '', base = '', quote = '', text = '']: readonly string[], line: number): CurrencyRate {
  const refused = (what: string) => new PriceFileError(`Line ${line}: ${what}. No rate was imported.`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(ratedOn) || Number.isNaN(Date.parse(ratedOn))) throw refused('rated_on is not a day');
  for (const code of [base, quote]) {
    if (!Intl.supportedValuesOf('currency').includes(code)) throw refused(`"${code}" is not a currency of ISO 4217`);
  }
  if (base === quote) throw refused('base and quote are the same currency');
  const rate = /^\d{1,12}(?:\.\d{1,12})?$/.test(text) ? Number(text) : 0;
  if (!(rate > 0)) throw refused(`rate is "${text}", not a number above 0`);
  return { base, quote, ratedOn, rate };
}
