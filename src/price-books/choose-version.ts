/** Decides which book answers a request, and in which currency. */
import type { EntityManager } from '../platform/database/orm.ts';
import { parseVersionName } from './book-names.ts';
import { type CurrencyRate, findRate } from './currency-rates-store.ts';
import {
  BOOK_KINDS,
  type BookKind,
  type BookVersion,
  findBookVersion,
  findDefaultVersions,
  hasActiveVersion,
} from './price-books-store.ts';
import { type Refusal, refused } from './refusal.ts';

export interface BookRequest {
  price_book?: string;
  country?: string;
}

/** Nothing that the caller sends can help: no book is active. */
export interface NoBook {
  kind: 'unavailable';
}

export async function chooseVersion<Kind extends BookKind>(
  em: EntityManager,
  kind: Kind,
  request: BookRequest,
): Promise<{ kind: 'chosen'; version: Extract<BookVersion, { kind: Kind }> } | Refusal | NoBook> {
  if (!(await hasActiveVersion(em, kind))) return { kind: 'unavailable' };
  const { price_book: name, country } = request;
  if (name === undefined) return chooseDefault(em, kind, country ?? null);
  const named = parseVersionName(name);
  const version = named && (await findBookVersion(em, kind, named));
  if (!version || version.status === 'retired') {
    return refused('price_book', (await ofAnotherKind(em, kind, name)) ?? `There is no active price book "${name}".`);
  }
  if (country === undefined || country === version.country) return { kind: 'chosen', version };
  return refused(
    'country',
    `The price book ${version.book} is of ${version.country}, not ${country}. Omit one of them.`,
  );
}

/** What a book holds, and what it answers. */
const KINDS: Readonly<Record<BookKind, { holds: string; answers: string }>> = {
  market: { holds: 'offers of a market', answers: 'values vehicles' },
  repairs: { holds: 'prices of repairs', answers: 'estimates repairs' },
};

/** What to say if the name is of a book of another kind; null otherwise. */
async function ofAnotherKind(em: EntityManager, wanted: BookKind, name: string): Promise<string | null> {
  const named = parseVersionName(name);
  for (const kind of BOOK_KINDS.filter((one) => one !== wanted)) {
    const version = named && (await findBookVersion(em, kind, named));
    if (!version || version.status === 'retired') continue;
    const { holds, answers } = KINDS[kind];
    return `The price book "${name}" holds ${holds} and ${answers}. Name one that ${KINDS[wanted].answers}.`;
  }
  return null;
}

async function chooseDefault<Kind extends BookKind>(em: EntityManager, kind: Kind, country: string | null) {
  const [first, ...others] = await findDefaultVersions(em, kind, country);
  if (!first) {
    return country === null
      ? refused(
          'price_book',
          'No price book is active by default here: the operator of the service imports and activates them.',
        )
      : refused('country', `There is no active price book for ${country}.`);
  }
  if (country === null && others.some((other) => other.country !== first.country)) {
    return refused('country', 'There are price books of several countries. Send "country" or "price_book".');
  }
  return { kind: 'chosen' as const, version: first };
}

export interface Conversion {
  /** Of the result. */
  currency: string;
  /** From the currency of the book; null if it is the same. */
  rate: CurrencyRate | null;
}

/** @param currency of the request; that of the book when it is undefined */
export async function findConversion(
  em: EntityManager,
  version: Pick<BookVersion, 'currency'>,
  currency = version.currency,
): Promise<Conversion | Refusal> {
  if (currency === version.currency) return { currency, rate: null };
  const rate = await findRate(em, version.currency, currency);
  if (rate) return { currency, rate };
  return refused(
    'currency',
    `There is no exchange rate from ${version.currency} to ${currency}. Omit "currency" for amounts in ${version.currency}.`,
  );
}
