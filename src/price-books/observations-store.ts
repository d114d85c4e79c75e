/** Observations of price books: written once, by the import; read to fit a model and to find comparables. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import type { MarketRow, Seller, StatedAttributes } from './model/market-rows.ts';
import type { Observation } from './observation.ts';
import { ageYears } from './vehicle-age.ts';

/** Columns of a batch, in the order of the statement. */
const COLUMNS = [
  ['digest', 'bytea'],
  ['observedOn', 'date'],
  ['make', 'text'],
  ['model', 'text'],
  ['year', 'smallint'],
  ['month', 'smallint'],
  ['mileageKm', 'integer'],
  ['priceMinor', 'bigint'],
  ['fuel', 'text'],
  ['transmission', 'text'],
  ['powerKw', 'real'],
  ['engineLitres', 'real'],
  ['seller', 'text'],
  ['unrepairedDamage', 'boolean'],
] as const satisfies readonly (readonly [keyof Observation, string])[];

const INSERT = `insert into price_observations (version_id, digest, observed_on, make, model, year, month, mileage_km,
    price_minor, fuel, transmission, power_kw, engine_litres, seller, unrepaired_damage)
  select $1, * from unnest(${COLUMNS.map(([, type], at) => `$${at + 2}::${type}[]`).join(', ')})
  on conflict do nothing returning digest`;

/** Returns those that the version did not have yet. */
export async function insertObservations(
  em: EntityManager,
  versionId: string,
  batch: readonly Observation[],
): Promise<Observation[]> {
  const columns = COLUMNS.map(([name]) => batch.map((observation) => observation[name]));
  const rows = await query<{ digest: Buffer }>(em, INSERT, [versionId, ...columns]);
  const inserted = new Set(rows.map(({ digest }) => digest.toString('hex')));
  // Equal rows of one batch have one digest: it is taken once.
  return batch.filter(({ digest }) => inserted.delete(digest.toString('hex')));
}

interface FittedRow {
  digest: Buffer;
  observed_on: string;
  make: string;
  model: string;
  year: number;
  month: number | null;
  mileage_km: number | null;
  price_minor: string;
  fuel: string | null;
  transmission: string | null;
  power_kw: number | null;
  engine_litres: number | null;
  seller: Seller | null;
  unrepaired_damage: boolean | null;
}

const ROW = `digest, to_char(observed_on, 'YYYY-MM-DD') as observed_on, make, model, year, month, mileage_km, price_minor,
  fuel, transmission, power_kw, engine_litres, seller, unrepaired_damage`;

/** Rows read in one statement. */
const PAGE = 20_000;

/** In the order of their digests, which is a random one: the first are a fair sample. */
export async function readMarketRows(em: EntityManager, versionId: string, most: number): Promise<MarketRow[]> {
  const found: MarketRow[] = [];
  let after: Buffer = Buffer.alloc(0);
  for (;;) {
    const rows = await query<FittedRow>(
      em,
      `select ${ROW} from price_observations where version_id = $1 and digest > $2 order by digest limit $3`,
      [versionId, after, Math.min(PAGE, most - found.length)],
    );
    found.push(...rows.map(toMarketRow));
    const last = rows.at(-1);
    if (!last || found.length >= most) return found;
    after = last.digest;
  }
}

function toMarketRow(row: FittedRow): MarketRow {
  return {
    make: row.make,
    model: row.model,
    ageYears: ageYears(row.observed_on, row),
    ...statedIn(row),
    priceMinor: Number(row.price_minor),
    // Other bits than those at the front, by which a sample is drawn.
    tenth: row.digest.readUInt32BE(8) % 10,
    fold: row.digest.readUInt32BE(12) % 5,
  };
}

/** An observation beside a vehicle that is valued. */
export interface Neighbour extends StatedAttributes {
  observedOn: string;
  year: number;
  priceMinor: number;
}

interface Place {
  versionId: string;
  make: string;
  model: string;
  year: number;
  mileageKm: number;
}

/** Years apart, at most. */
const MOST_YEARS_APART = 2;
/** Observations of one year with more, and with fewer kilometres. */
const NEIGHBOURS_OF_A_SIDE = 20;

/** Observations of the same model, of the years around and the nearest mileages; in no order. */
export async function findNeighbours(em: EntityManager, place: Place): Promise<Neighbour[]> {
  const side = (comparison: string, order: string) =>
    `(select ${ROW} from price_observations
      where version_id = $1 and make = $2 and model = $3 and year = years.year and mileage_km ${comparison} $5
      order by mileage_km ${order}, digest limit ${NEIGHBOURS_OF_A_SIDE})`;
  const rows = await query<FittedRow>(
    em,
    `select near.* from generate_series($4::integer - ${MOST_YEARS_APART}, $4::integer + ${MOST_YEARS_APART}) as years (year),
       lateral (${side('>=', 'asc')} union all ${side('<', 'desc')}) as near
     order by near.digest`,
    [place.versionId, place.make, place.model, place.year, Math.round(place.mileageKm)],
  );
  return rows.map((row) => ({
    observedOn: row.observed_on,
    year: row.year,
    priceMinor: Number(row.price_minor),
    ...statedIn(row),
  }));
}

function statedIn(row: FittedRow): StatedAttributes {
  return {
    mileageKm: row.mileage_km,
    fuel: row.fuel,
    transmission: row.transmission,
    powerKw: row.power_kw,
    engineLitres: row.engine_litres,
    seller: row.seller,
    unrepairedDamage: row.unrepaired_damage,
  };
}
