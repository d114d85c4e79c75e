/** Exchange rates, as the operator imported them. */
import { type EntityManager, query } from '../platform/database/orm.ts';

/** `rate` units of `quote` are worth one of `base`, in major units. */
export interface CurrencyRate {
  base: string;
  quote: string;
  /** ISO 8601 day. */
  ratedOn: string;
  rate: number;
}

interface StoredRate extends Omit<CurrencyRate, 'rate'> {
  rate: string;
}

const FACTS = `base, quote, to_char(rated_on, 'YYYY-MM-DD') as "ratedOn", rate`;

/** Replaces rates of the same pair and day. */
export async function saveRates(em: EntityManager, rates: readonly CurrencyRate[]): Promise<void> {
  const column = <Name extends keyof CurrencyRate>(name: Name) => rates.map((rate) => rate[name]);
  await query(
    em,
    `insert into currency_rates (base, quote, rated_on, rate)
     select * from unnest($1::text[], $2::text[], $3::date[], $4::numeric[])
     on conflict (base, quote, rated_on) do update set rate = excluded.rate`,
    [column('base'), column('quote'), column('ratedOn'), column('rate')],
  );
}

/** Newest first. */
export async function listRates(em: EntityManager): Promise<CurrencyRate[]> {
  const rows = await query<StoredRate>(
    em,
    `select ${FACTS} from currency_rates order by rated_on desc, base, quote limit 1000`,
  );
  return rows.map(toRate);
}

/** The newest rate between two currencies, turned round if only the other direction is known; null if there is none. */
export async function findRate(em: EntityManager, base: string, quote: string): Promise<CurrencyRate | null> {
  const [row] = await query<StoredRate>(
    em,
    `select ${FACTS} from currency_rates where (base, quote) in (($1, $2), ($2, $1))
     order by rated_on desc, base = $1 desc limit 1`,
    [base, quote],
  );
  if (!row) return null;
  const rate = toRate(row);
  return rate.base === base ? rate : { base, quote, ratedOn: rate.ratedOn, rate: 1 / rate.rate };
}

const toRate = (row: StoredRate): CurrencyRate => ({ ...row, rate: Number(row.rate) });
