/** Versions of price books, their observations, and what requests look up in them. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import type { Evaluation } from './model/evaluate-model.ts';

export type BookStatus = 'ready' | 'active' | 'retired';

/** What a book holds: offers of vehicles, or the prices and times of repairs. */
export const BOOK_KINDS = ['market', 'repairs'] as const;
export type BookKind = (typeof BOOK_KINDS)[number];

/** One import of a book. Days are ISO 8601. */
interface VersionFacts {
  id: string;
  book: string;
  version: number;
  country: string;
  currency: string;
  status: BookStatus;
  /** Requests must name it: it is never the default of its country. */
  namedOnly: boolean;
  observedFrom: string;
  /** The day that its valuations are for. */
  observedTo: string;
  /** Or entries, of a book of repairs. */
  observations: number;
  duplicates: number;
  rejected: number;
  /** ISO 8601, UTC. */
  importedAt: string;
  activatedAt: string | null;
}

export interface MarketVersion extends VersionFacts {
  kind: 'market';
  earliestYear: number;
  evaluation: Evaluation;
}

export interface RepairsVersion extends VersionFacts {
  kind: 'repairs';
  earliestYear: null;
  evaluation: null;
}

export type BookVersion = MarketVersion | RepairsVersion;
type VersionOf<Kind extends BookKind> = Extract<BookVersion, { kind: Kind }>;

const isoTime = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

const FACTS = `id, kind, book, version, country, currency, status, named_only as "namedOnly",
  to_char(observed_from, 'YYYY-MM-DD') as "observedFrom", to_char(observed_to, 'YYYY-MM-DD') as "observedTo",
  earliest_year as "earliestYear", observations, duplicates, rejected, evaluation,
  ${isoTime('imported_at')} as "importedAt", ${isoTime('activated_at')} as "activatedAt"`;

/** By book, newest version first. */
export function listBookVersions(em: EntityManager): Promise<BookVersion[]> {
  return query(em, `select ${FACTS} from price_book_versions order by book, version desc`);
}

/** The active version of a book, or the version that is named; null if there is none. */
export async function findBookVersion<Kind extends BookKind>(
  em: EntityManager,
  kind: Kind,
  { book, version }: VersionName,
): Promise<VersionOf<Kind> | null> {
  const [found] = await query<VersionOf<Kind>>(
    em,
    `select ${FACTS} from price_book_versions
     where kind = $3 and book = $1 and case when $2::integer is null then status = 'active' else version = $2 end`,
    [book, version, kind],
  );
  return found ?? null;
}

/** The active versions that answer requests without a name, of all countries or one, last activated first. */
export function findDefaultVersions<Kind extends BookKind>(
  em: EntityManager,
  kind: Kind,
  country: string | null,
): Promise<VersionOf<Kind>[]> {
  return query(
    em,
    `select ${FACTS} from price_book_versions
     where kind = $2 and status = 'active' and not named_only and ($1::text is null or country = $1)
     order by activated_at desc, id desc`,
    [country, kind],
  );
}

export async function hasActiveVersion(em: EntityManager, kind: BookKind): Promise<boolean> {
  const rows = await query(em, `select from price_book_versions where kind = $1 and status = 'active' limit 1`, [kind]);
  return rows.length > 0;
}

export interface VersionName {
  book: string;
  /** Null: the active one. */
  version: number | null;
}

/** Makes a version the one that answers for its book. The one before stays ready. Null if there is none, or it is retired. */
export async function activateVersion(em: EntityManager, { book, version }: VersionName): Promise<BookVersion | null> {
  await lockBook(em, book);
  // Locked, because a version that is retired meanwhile ends for good.
  const [target] = await query<{ id: string }>(
    em,
    `select id from price_book_versions where book = $1 and status <> 'retired' and ($2::integer is null or version = $2)
     order by version desc limit 1 for update`,
    [book, version],
  );
  if (!target) return null;
  await query(
    em,
    `update price_book_versions set status = 'ready' where book = $1 and status = 'active' and id <> $2`,
    [book, target.id],
  );
  const [activated] = await query<BookVersion>(
    em,
    `update price_book_versions set status = 'active',
       activated_at = case when status = 'active' then activated_at else clock_timestamp() end
     where id = $1 returning ${FACTS}`,
    [target.id],
  );
  return activated ?? null;
}

/** Ends a version, or all of a book, for good: no request gets a valuation of it any more. Returns what was ended. */
export function retireVersions(em: EntityManager, { book, version }: VersionName): Promise<BookVersion[]> {
  return query(
    em,
    `update price_book_versions set status = 'retired' where book = $1 and ($2::integer is null or version = $2)
     returning ${FACTS}`,
    [book, version],
  );
}

/** One change of a book at a time, until the end of the transaction. */
export async function lockBook(em: EntityManager, book: string): Promise<void> {
  await query(em, `select pg_advisory_xact_lock(hashtextextended('price book ' || $1, 0))`, [book]);
}

/** The version that was imported from the same bytes and is not retired; null if there is none. */
export async function findImported(em: EntityManager, book: string, sha256: Buffer): Promise<BookVersion | null> {
  const [found] = await query<BookVersion>(
    em,
    `select ${FACTS} from price_book_versions where book = $1 and file_sha256 = $2 and status <> 'retired'
     order by version desc limit 1`,
    [book, sha256],
  );
  return found ?? null;
}

/** What the first version of a book settles for all; null if there is no such book. */
export async function findBook(em: EntityManager, book: string): Promise<Pick<BookVersion, 'kind' | 'country'> | null> {
  const [found] = await query<Pick<BookVersion, 'kind' | 'country'>>(
    em,
    'select kind, country from price_book_versions where book = $1 order by version limit 1',
    [book],
  );
  return found ?? null;
}

/** The number that the next version of a book gets. Call it under `lockBook`. */
export async function reserveVersion(em: EntityManager, book: string): Promise<{ id: string; version: number }> {
  const [next] = await query<{ id: string; version: number }>(
    em,
    `select nextval(pg_get_serial_sequence('price_book_versions', 'id')) as id,
       coalesce(max(version), 0) + 1 as version from price_book_versions where book = $1`,
    [book],
  );
  return next as { id: string; version: number };
}

type Given<Version> = Omit<Version, 'status' | 'importedAt' | 'activatedAt'> & { fileSha256: Buffer };

export type NewVersion =
  | (Given<MarketVersion> & { model: Buffer; models: readonly KnownModel[] })
  | (Given<RepairsVersion> & { model: null; models: readonly never[] });

/** A model of a book. `make` and `model` are folded names. */
export interface KnownModel {
  make: string;
  model: string;
  makeName: string;
  modelName: string;
  observations: number;
}

export async function insertVersion(em: EntityManager, added: NewVersion): Promise<BookVersion> {
  const [version] = await query<BookVersion>(
    em,
    `insert into price_book_versions (id, book, version, country, currency, named_only, file_sha256, observed_from,
       observed_to, earliest_year, observations, duplicates, rejected, evaluation, model, kind)
     overriding system value
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) returning ${FACTS}`,
    [
      added.id,
      added.book,
      added.version,
      added.country,
      added.currency,
      added.namedOnly,
      added.fileSha256,
      added.observedFrom,
      added.observedTo,
      added.earliestYear,
      added.observations,
      added.duplicates,
      added.rejected,
      added.evaluation && JSON.stringify(added.evaluation),
      added.model,
      added.kind,
    ],
  );
  if (added.kind === 'repairs') return version as BookVersion;
  const column = <Name extends keyof KnownModel>(name: Name) => added.models.map((model) => model[name]);
  await query(
    em,
    `insert into price_book_models (version_id, make, model, make_name, model_name, observations)
     select $1, * from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::integer[])`,
    [added.id, column('make'), column('model'), column('makeName'), column('modelName'), column('observations')],
  );
  return version as BookVersion;
}

/** The bytes of a version's model. */
export async function readModelBytes(em: EntityManager, versionId: string): Promise<Buffer> {
  const [row] = await query<{ model: Buffer | null }>(em, 'select model from price_book_versions where id = $1', [
    versionId,
  ]);
  if (!row?.model) throw new Error(`there is no version ${versionId} of a price book`);
  return row.model;
}

/** The models of a make, most observations first; none if the version does not know the make. */
export function findModelsOfMake(em: EntityManager, versionId: string, make: string): Promise<KnownModel[]> {
  return query(
    em,
    `select make, model, make_name as "makeName", model_name as "modelName", observations from price_book_models
     where version_id = $1 and make = $2 order by observations desc, model`,
    [versionId, make],
  );
}

/** Folded names of the makes of a version, most observations first. */
export async function listMakes(em: EntityManager, versionId: string): Promise<{ make: string; makeName: string }[]> {
  return query(
    em,
    `select make, min(make_name) as "makeName" from price_book_models where version_id = $1
     group by make order by sum(observations) desc, make`,
    [versionId],
  );
}
