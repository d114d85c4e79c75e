/**
 * What a result says, in words, whatever its endpoint: its fields with their units and confidences, without places, files and
 * ids, which the picture shows. The JSON has all of it.
 */
import { type Fields, isFields, labelOf, NAMES } from '../../src/api/pages/find-shapes.ts';
import { formatNumber, formatTime, inWords } from './format.ts';

export interface Fact {
  /** Empty for an item of a list. */
  name: string;
  /** Empty where only the facts below say something. */
  text: string;
  confidence: number | null;
  facts: Fact[];
}

/** Drawn onto the picture, or of interest to programs only. */
const LEFT_OUT =
  /^(?:object|bbox|quad|polygons?|layout|characters|alternatives|hex|index|mask_value|placements|parameters)$|(?:image|frame|source)_index$|_bbox$|_ids?$|^id$|_normalized$/;
const MOST_ITEMS = 8;

/** Units by the ends of names, as they are written after a number. */
const UNITS: Readonly<Record<string, string>> = {
  percent: ' %',
  degrees: '°',
  mm: ' mm',
  km: ' km',
  kmh: ' km/h',
  kg: ' kg',
  inches: ' in',
  seconds: ' s',
  minutes: ' min',
  hours: ' h',
  days: ' days',
  kelvin: ' K',
  ev: ' EV',
  pixels: ' px',
};

/**
 * Integers of these names, at or below an object that states its currency, are in the minor unit of it. The contracts say so in
 * words only; a test compares the names with them.
 */
export const AMOUNTS: ReadonlySet<string> = new Set([
  'amount',
  'base',
  'gross',
  'high',
  'labour',
  'low',
  'net',
  'paint',
  'paint_materials',
  'parts',
  'price',
  'tax',
  'total',
  'unit_price',
  'value',
]);

export function findFacts(result: unknown): Fact[] {
  return isFields(result) ? factsOf(result, null, []) : [];
}

/** Of the fields of an object, without those already told. */
function factsOf(value: Fields, outerCurrency: string | null, told: readonly string[]): Fact[] {
  const currency = typeof value.currency === 'string' ? value.currency : outerCurrency;
  return Object.entries(value).flatMap(([name, field]) => {
    if (LEFT_OUT.test(name) || name === 'confidence' || told.includes(name) || isFile(field)) return [];
    const fact = factOf(name, field, currency);
    return fact.text === '' && fact.facts.length === 0 ? [] : [fact];
  });
}

function factOf(name: string, value: unknown, currency: string | null): Fact {
  const { subject, unit } = splitUnit(name, value);
  const plain = { name: subject, confidence: null, facts: [] };
  if (Array.isArray(value)) {
    if (value.length === 0) return { ...plain, text: 'none' };
    if (!value.some(isFields)) return { ...plain, text: value.map(inPlainWords).join(', ') };
    const items = value
      .filter(isFields)
      .map((item, index) => itemOf(item, currency, `${subject.replace(/s$/, '')} ${index + 1}`));
    const facts = items.slice(0, MOST_ITEMS);
    const left = items.length - facts.length;
    if (left > 0) facts.push({ ...plain, name: '', text: `and ${formatNumber(left)} more in the JSON` });
    return { ...plain, name: `${subject} (${formatNumber(items.length)})`, text: '', facts };
  }
  if (isFields(value)) return { ...itemOf(value, currency), name: subject };
  return { ...plain, text: textOf(name, value, unit, currency) };
}

/** An object: what it is called, and whatever else it says. One that says nothing is called by its place in its list. */
function itemOf(value: Fields, outerCurrency: string | null, nameInList = ''): Fact {
  const currency = typeof value.currency === 'string' ? value.currency : outerCurrency;
  const { title, told } = titleOf(value, currency);
  const facts = factsOf(value, outerCurrency, told).filter(({ text }) => text !== '–');
  const confidence = typeof value.confidence === 'number' ? value.confidence : null;
  // Objects of objects, such as the totals of a price, have a line for each; so has a list.
  const isGroup = title === '' && nameInList === '' && facts.some(({ text }) => text.includes('; '));
  const [below, beside] = isGroup ? [facts, []] : partition(facts, (fact) => fact.facts.length > 0);
  const said = beside.map(
    ({ name, text }) => `${name} ${text.includes('; ') ? `(${text.replaceAll('; ', ', ')})` : text}`,
  );
  const text = [title, ...said].filter((part) => part !== '').join('; ');
  // A single group needs no heading of its own.
  const [only] = below;
  const lines = only && below.length === 1 && only.text === '' ? only.facts : below;
  return { name: '', text: text === '' ? nameInList : text, confidence, facts: lines };
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

/** What an object is called, and the fields that say so. */
function titleOf(value: Fields, currency: string | null): { title: string; told: string[] } {
  const { part, name, text, make } = value;
  if (typeof part === 'string' && typeof text !== 'string' && typeof value.label !== 'string') {
    return { title: labelOf(value) ?? '', told: ['type', 'part', 'side'] };
  }
  const unit = typeof value.unit === 'string' ? ` ${value.unit}` : '';
  if (typeof name === 'string' && 'value' in value) {
    const said = textOf('value', value.value, '', currency) + unit;
    return { title: `${inPlainWords(name)}: ${said}`, told: ['name', 'value', 'text', 'type', 'unit'] };
  }
  if (typeof make === 'string') {
    const told = MODEL.filter((field) => typeof value[field] === 'string');
    return { title: told.map((field) => value[field]).join(' '), told };
  }
  const field = NAMES.find((one) => ['string', 'number', 'boolean'].includes(typeof inner(value[one])));
  if (field === undefined) return { title: '', told: [] };
  const title = textOf(unit === '' ? field : '', inner(value[field]), '', currency) + unit;
  return {
    title,
    told: [field, 'unit', 'text', 'value', ...(field === 'label' ? ['code', 'kind', 'part', 'side'] : [])],
  };
}

const MODEL = ['make', 'model', 'variant', 'generation'];

/** A value with its confidence is told by the value. */
const inner = (value: unknown): unknown => (isFields(value) ? value.value : value);

function splitUnit(name: string, value: unknown): { subject: string; unit: string } {
  const last = name.split('_').at(-1) ?? '';
  const isMeasured =
    typeof value === 'number' && last !== name && (last in UNITS || ['fraction', 'at', 'ms'].includes(last));
  return isMeasured
    ? { subject: inWords(name.slice(0, -last.length - 1)), unit: last }
    : { subject: inWords(name.replace(/^(?:is|has)_/, '')), unit: '' };
}

function textOf(name: string, value: unknown, unit: string, currency: string | null): string {
  if (typeof value !== 'number') return inPlainWords(value);
  if (unit === 'fraction') return `${formatNumber(Math.round(value * 1_000) / 10)} %`;
  if (unit === 'at') return formatTime(value);
  if (unit === 'ms') return `${formatNumber(value / 1_000)} s`;
  if (currency !== null && Number.isInteger(value) && AMOUNTS.has(name)) return moneyOf(value, currency);
  return /(?:^|_)year(?:_|$)/.test(name) ? String(value) : formatNumber(value) + (UNITS[unit] ?? '');
}

/** Currencies differ in how many digits their minor unit takes. */
function moneyOf(minorUnits: number, currency: string): string {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  return format.format(minorUnits / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** Names of closed lists with spaces; texts that were read stay as they are. */
function inPlainWords(value: unknown): string {
  if (value === null) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return formatNumber(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[a-z0-9]+(?:_[a-z0-9]+)+$/.test(text) ? text.replaceAll('_', ' ') : text;
}

const isFile = (value: unknown): boolean =>
  isFields(value) &&
  (value.object === 'artefact' || (Object.values(value).length > 0 && Object.values(value).every(isFile)));
