/** Values of fields by kind: numbers with units, VINs, registration numbers, and words. */
import type { UNITS } from '../../contracts/vocabulary/documents.ts';
import type { Parsed } from './parse-date.ts';

type Unit = (typeof UNITS)[number];

export interface Quantity {
  value: number;
  /** Null when none is printed. */
  unit: Unit | null;
}

/** A number as printed, with grouped thousands or a decimal separator; leading zeros fill a box of a form. */
const QUANTITY = /^(\d{1,3}(?:[., ’']\d{3})+|\d{1,7})(?:[.,](\d{1,2}))?(?![\d])\s?([\p{L}³²/]*\d?)/u;

const UNIT_NAMES: Readonly<Record<string, Unit>> = {
  km: 'km',
  mi: 'mi',
  miles: 'mi',
  mile: 'mi',
  kw: 'kW',
  hp: 'hp',
  bhp: 'hp',
  cm3: 'cm3',
  'cm³': 'cm3',
  ccm: 'cm3',
  cc: 'cm3',
  kg: 'kg',
  lb: 'lb',
  lbs: 'lb',
  'g/km': 'g/km',
};

/** Least and most that a value can be, in its usual unit. */
export interface Range {
  least: number;
  most: number;
}

/**
 * The number that a text starts with. Null outside the range, or with another unit than the expected ones.
 * @param units those the field allows; empty for a plain number
 */
export function parseQuantity(text: string, { least, most }: Range, units: readonly Unit[]): Parsed<Quantity> | null {
  const match = QUANTITY.exec(text);
  if (!match) return null;
  const [all, whole = '', decimals, printed = ''] = match;
  const value = Number(`${whole.replace(/\D/g, '')}.${decimals ?? '0'}`);
  const unit = UNIT_NAMES[printed.toLowerCase()] ?? null;
  if (value < least || value > most) return null;
  const digits = whole.length + (decimals === undefined ? 0 : decimals.length + 1);
  const length = unit === null ? digits : all.length;
  const rest = text.slice(length);
  if (unit !== null && !units.includes(unit)) return null;
  // Another unit, a part of a code, or the number of a heading.
  if (unit === null && /^(?:\p{L}|\s?(?:ps|cv|ch|km\/h|kwh)(?!\p{L}))/iu.test(rest)) return null;
  if (/\p{Ll}{3}/u.test(rest)) return null;
  return { value: { value, unit }, start: 0, end: length };
}

/** Letters and digits with separators. Source of the limits: the longest series in use have nine, the shortest three. */
const REGISTRATION = /^[\p{Lu}\p{Nd}](?:[\p{Lu}\p{Nd}]|[ \-·.•]{1,3}(?=[\p{Lu}\p{Nd}])){1,11}/u;

export function parseRegistration(text: string): Parsed<string> | null {
  const match = REGISTRATION.exec(text);
  if (!match) return null;
  const printed = match[0].trimEnd();
  const plain = printed.replace(/[^\p{L}\p{N}]/gu, '');
  if (text.charAt(printed.length) !== '' && !/^[\s,;()/]/.test(text.charAt(printed.length))) return null;
  if (plain.length < 3 || plain.length > 9 || !/\d/.test(plain) || !/\p{L}/u.test(plain)) return null;
  return { value: printed, start: 0, end: printed.length };
}

/** Categories of Regulation (EU) 2018/858, 167/2013 and 168/2013. */
const CATEGORY = /^(?:[MNO][1-4]G?|L[1-7]e?(?:-[A-Z]\d?)?|[TC][1-5](?:\.\d)?[ab]?|[RS][1-4][ab]?)(?![\p{L}\p{N}])/iu;

export function parseCategory(text: string): Parsed<string> | null {
  const match = CATEGORY.exec(text);
  return match ? { value: match[0].toUpperCase().replace(/^(L\d)E/, '$1e'), start: 0, end: match[0].length } : null;
}

/** `e1*2007/46*0627*12`; older ones and national ones differ, but have a star or a slash and digits. */
const TYPE_APPROVAL = /^[eE]\s?\d{1,2}\s?\*[\p{L}\d/* .-]{6,34}[\p{L}\d]/u;

export function parseTypeApproval(text: string): Parsed<string> | null {
  const match = TYPE_APPROVAL.exec(text);
  return match ? { value: match[0].replaceAll(' ', ''), start: 0, end: match[0].length } : null;
}

/** Numbers of documents, policies and invoices: digits, with letters and separators, without spaces around words. */
const NUMBER_TEXT = /^[\p{Lu}\d](?:[\p{Lu}\d./_-]|\s(?=[\p{Lu}\d./_-]*\d)){1,29}/u;

export function parseNumberText(text: string): Parsed<string> | null {
  const match = NUMBER_TEXT.exec(text);
  const printed = match?.[0].trimEnd().replace(/[./_-]+$/, '');
  if (!printed || printed.length < 3 || !/\d/.test(printed)) return null;
  // Part of a word, or the number of a heading.
  if (/^(?:\p{Ll}|\s+\p{Lu}\p{Ll}{2})/u.test(text.slice(printed.length))) return null;
  return { value: printed, start: 0, end: printed.length };
}

const LONGEST_WORDS = 80;

/** Makes have two letters and more, no digits between them, and capitals no small l: their look-alikes are misread. */
export function parseMake(text: string): Parsed<string> | null {
  const parsed = parseWords(text, 2);
  return parsed && { ...parsed, value: parsed.value.replace(/\S+/g, withoutLookAlikes) };
}

export function parseEmissionClass(text: string): Parsed<string> | null {
  const parsed = parseWords(text, 1);
  return parsed && { ...parsed, value: parsed.value.replace(/^EUR0(?=\s?\d|$)/, 'EURO') };
}

function withoutLookAlikes(word: string): string {
  return /^[\p{Lu}0]{3,}$/u.test(word) && /\p{Lu}{2}/u.test(word) ? word.replaceAll('0', 'O') : word;
}

/** Any text with a letter or a digit that is not filling. @param letters the fewest letters */
export function parseWords(text: string, letters: number): Parsed<string> | null {
  const printed = text.trim();
  const count = (printed.match(/\p{L}/gu) ?? []).length;
  if (count < letters || printed.length > LONGEST_WORDS || !/[\p{L}\p{N}]/u.test(printed)) return null;
  const start = text.indexOf(printed);
  // A small l among capitals is an I.
  const value = /^[\p{Lu}\p{N}l]*\p{Lu}[\p{Lu}\p{N}l]*$/u.test(printed) ? printed.replaceAll('l', 'I') : printed;
  return { value: value.replace(/\n/g, ', ').replace(/\s+/g, ' '), start, end: start + printed.length };
}
