/** One row of the file of a book of repairs: the price of a part, the time of some work, or the rates of a region. Pure. */
import { hash } from 'node:crypto';
import { REPAIR_METHODS, SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import { PARTS, type Part } from '../../contracts/vocabulary/parts.ts';
import { PART_QUALITIES } from '../../contracts/vocabulary/repairs.ts';
import {
  checkMarket,
  day,
  decimal,
  type Market,
  oneOf,
  RowProblem,
  type RowValues,
  required,
  whole,
} from '../row-fields.ts';
import { makeKey, nameKey } from '../vehicle-names.ts';

export const REPAIR_COLUMNS = [
  'valid_from',
  'country',
  'currency',
  'kind',
  'make',
  'model',
  'year_from',
  'year_to',
  'part',
  'work',
  'severity',
  'quality',
  'region',
  'part_number',
  'price_minor',
  'labour_hours',
  'paint_hours',
  'materials_minor',
  'also_removes',
  'labour_rate_minor',
  'paint_rate_minor',
  'tax_percent',
] as const;
export type RepairColumn = (typeof REPAIR_COLUMNS)[number];

/** Work that repairs no damage: it is done once, whichever damages need it. */
export const EXTRA_WORK = ['remove_and_refit', 'blend', 'paint_preparation'] as const;
/** Nothing is done for `none`, so it has no entry. */
export const WORK = [...REPAIR_METHODS.filter((method) => method !== 'none'), ...EXTRA_WORK] as const;
export type Work = (typeof WORK)[number];
export type Severity = (typeof SEVERITIES)[number];
export type Quality = (typeof PART_QUALITIES)[number];

/** The vehicles of an entry: every one, those of a make, or those of a model, of some years. */
export interface EntryScope {
  /** Folded names; empty for every make, or every model. */
  make: string;
  model: string;
  yearFrom: number | null;
  yearTo: number | null;
}

export interface PartEntry extends EntryScope {
  kind: 'part';
  part: Part;
  quality: Quality;
  partNumber: string | null;
  priceMinor: number;
}

export interface WorkEntry extends EntryScope {
  kind: 'work';
  /** Null for `paint_preparation`, and for work that takes as long on every part. */
  part: Part | null;
  work: Work;
  /** Null: of a moderate damage, and the measure for the others. */
  severity: Severity | null;
  labourHours: number;
  paintHours: number;
  materialsMinor: number;
  /** Parts in the way, which are removed and refitted. */
  alsoRemoves: Part[];
}

export interface RateEntry extends EntryScope {
  kind: 'rate';
  /** Empty for the whole country. */
  region: string;
  /** Minor units per hour. */
  labourRateMinor: number;
  paintRateMinor: number;
  taxPercent: number;
}

export type RepairEntry = PartEntry | WorkEntry | RateEntry;

export interface ImportedEntry {
  /** Of what the entry is for. 16 bytes. */
  digest: Buffer;
  /** Of all its values. 16 bytes. */
  content: Buffer;
  /** ISO 8601 day. */
  validFrom: string;
  entry: RepairEntry;
}

const MOST_MINOR = 1_000_000_000;
const MOST_HOURS = 200;
const YEARS = { least: 1900, most: 2100 };
const REGION = /^[A-Z0-9](?:[A-Z0-9 -]{0,30}[A-Z0-9])?$/;

/** The columns that each kind of row fills in; it leaves the others empty. */
const COLUMNS_OF: Readonly<Record<RepairEntry['kind'], readonly RepairColumn[]>> = {
  part: ['part', 'quality', 'part_number', 'price_minor'],
  work: ['part', 'work', 'severity', 'labour_hours', 'paint_hours', 'materials_minor', 'also_removes'],
  rate: ['region', 'labour_rate_minor', 'paint_rate_minor', 'tax_percent'],
};
const COMMON: readonly RepairColumn[] = ['valid_from', 'country', 'currency', 'kind'];
const SCOPE: readonly RepairColumn[] = ['make', 'model', 'year_from', 'year_to'];

type Values = RowValues<RepairColumn>;

/** @throws RowProblem */
export function readRepairEntry(values: Values, market: Market): ImportedEntry {
  checkMarket(values, market);
  const validFrom = day('valid_from', values);
  const kind = required('kind', oneOf('kind', values, ['part', 'work', 'rate'] as const));
  const filled = [...COMMON, ...(kind === 'rate' ? [] : SCOPE), ...COLUMNS_OF[kind]];
  const surplus = REPAIR_COLUMNS.find((name) => values[name] !== '' && !filled.includes(name));
  if (surplus !== undefined) throw new RowProblem(`${surplus} is "${values[surplus]}", and a ${kind} has none`);
  const entry = READERS[kind](values, scopeOf(values));
  return { digest: digestOf(subjectOf(entry)), content: digestOf([validFrom, entry]), validFrom, entry };
}

export const regionKey = (region: string) => region.trim().toUpperCase();

const READERS: Readonly<Record<RepairEntry['kind'], (values: Values, scope: EntryScope) => RepairEntry>> = {
  part: (values, scope) => ({
    kind: 'part',
    ...scope,
    part: required('part', oneOf('part', values, PARTS)),
    quality: oneOf('quality', values, PART_QUALITIES) ?? 'original',
    partNumber: values.part_number === '' ? null : values.part_number.slice(0, 64),
    priceMinor: required('price_minor', whole('price_minor', values, { least: 0, most: MOST_MINOR })),
  }),
  work: readWork,
  rate: (values) => {
    const region = regionKey(values.region);
    if (region !== '' && !REGION.test(region)) {
      throw new RowProblem(`region is "${values.region}", not a name of letters, digits, hyphens and spaces`);
    }
    const labourRateMinor = required(
      'labour_rate_minor',
      whole('labour_rate_minor', values, { least: 1, most: MOST_MINOR }),
    );
    const taxPercent = required('tax_percent', decimal('tax_percent', values));
    if (taxPercent > 100) throw new RowProblem(`tax_percent is "${values.tax_percent}", more than 100`);
    return {
      kind: 'rate',
      make: '',
      model: '',
      yearFrom: null,
      yearTo: null,
      region,
      labourRateMinor,
      paintRateMinor: whole('paint_rate_minor', values, { least: 1, most: MOST_MINOR }) ?? labourRateMinor,
      taxPercent,
    };
  },
};

function readWork(values: Values, scope: EntryScope): WorkEntry {
  const work = required('work', oneOf('work', values, WORK));
  const part = oneOf('part', values, PARTS);
  if (work === 'paint_preparation' && part !== null) throw new RowProblem('paint_preparation is of no part');
  if ((work === 'remove_and_refit' || work === 'blend') && part === null) throw new RowProblem('part is missing');
  const severity = oneOf('severity', values, SEVERITIES);
  const isExtra = EXTRA_WORK.some((extra) => extra === work);
  if (severity !== null && (isExtra || work === 'replace')) {
    throw new RowProblem(`severity is "${severity}", and ${work} has none`);
  }
  const entry = {
    kind: 'work' as const,
    ...scope,
    part,
    work,
    severity,
    labourHours: hours('labour_hours', values),
    paintHours: hours('paint_hours', values),
    materialsMinor: whole('materials_minor', values, { least: 0, most: MOST_MINOR }) ?? 0,
    alsoRemoves: partsIn(values.also_removes),
  };
  if (entry.labourHours + entry.paintHours + entry.materialsMinor > 0) return entry;
  throw new RowProblem('labour_hours, paint_hours and materials_minor are missing');
}

function hours(name: 'labour_hours' | 'paint_hours', values: Values): number {
  const value = decimal(name, values) ?? 0;
  if (value > MOST_HOURS) throw new RowProblem(`${name} is "${values[name]}", more than ${MOST_HOURS}`);
  return value;
}

/** Separated by spaces. */
function partsIn(text: string): Part[] {
  const names = text.split(/\s+/).filter(Boolean);
  return names.map((name) => {
    const part = PARTS.find((known) => known === name);
    if (!part) throw new RowProblem(`also_removes names "${name}", which is no part`);
    return part;
  });
}

function scopeOf(values: Values): EntryScope {
  const [make, model] = [makeKey(values.make), nameKey(values.model)];
  if (make === '' && model !== '') throw new RowProblem('make is missing');
  const [yearFrom, yearTo] = [whole('year_from', values, YEARS), whole('year_to', values, YEARS)];
  if (yearFrom !== null && yearTo !== null && yearTo < yearFrom) throw new RowProblem('year_to is before year_from');
  return { make, model, yearFrom, yearTo };
}

function subjectOf(entry: RepairEntry): unknown[] {
  const { kind, make, model, yearFrom, yearTo } = entry;
  const scope = [kind, make, model, yearFrom, yearTo];
  if (entry.kind === 'part') return [...scope, entry.part, entry.quality];
  if (entry.kind === 'work') return [...scope, entry.part, entry.work, entry.severity];
  return [...scope, entry.region];
}

const digestOf = (values: unknown) => hash('sha256', JSON.stringify(values), 'buffer').subarray(0, 16);
