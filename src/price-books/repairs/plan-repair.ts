/** Decides which book of repairs answers a request, and at whose rates: before anything is held, and when the job runs. */
import type { EntityManager } from '../../platform/database/orm.ts';
import { type BookRequest, type Conversion, chooseVersion, findConversion, type NoBook } from '../choose-version.ts';
import type { RepairsVersion } from '../price-books-store.ts';
import { type Refusal, refused } from '../refusal.ts';
import { findRates } from './repair-entries-store.ts';
import { type RateEntry, regionKey } from './repair-entry.ts';

export interface RepairRequest extends BookRequest {
  currency?: string;
  region?: string;
}

export interface RepairPlan extends Conversion {
  kind: 'planned';
  version: RepairsVersion;
  /** Of the requested region, or of the whole country. In the currency of the book. */
  rates: RateEntry;
}

/** Most regions that a message names. */
const MOST_NAMED = 20;

export async function planRepair(em: EntityManager, request: RepairRequest): Promise<RepairPlan | Refusal | NoBook> {
  const chosen = await chooseVersion(em, 'repairs', request);
  if (chosen.kind !== 'chosen') return chosen;
  const { version } = chosen;
  const conversion = await findConversion(em, version, request.currency);
  if ('kind' in conversion) return conversion;
  const regions = await findRates(em, version.id);
  const wanted = regionKey(request.region ?? '');
  const rates = regions.find(({ region }) => region === wanted);
  if (rates) return { kind: 'planned', version, rates, ...conversion };
  const names = regions.map(({ region }) => region).filter(Boolean);
  const known =
    names.length > 0 ? `It knows ${names.slice(0, MOST_NAMED).join(', ')}.` : 'It knows none: omit "region".';
  return refused(
    'region',
    `The price book ${version.book}@${version.version} has no rates of "${request.region}". ${known}`,
  );
}
