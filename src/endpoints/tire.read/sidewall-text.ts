/**
 * Parses the text of a row on a tire's sidewall, after its size. Texts are in upper case. Text that does not follow the
 * notation is ignored: nothing is guessed or corrected.
 * Sources: ETRTO Standards Manual and ISO 4000-1 (service descriptions of passenger and commercial tires), ISO 4223-1 (terms),
 * 49 CFR 574.5 (tire identification number).
 */
import type { TIRE_MARKS, TIRE_SEASONS } from '../../contracts/vocabulary/tires.ts';
import { isSpeedSymbol, maximumLoadKg, type SpeedIndex } from './load-and-speed.ts';
import { isWithin, type Span } from './size-text.ts';

export interface ServiceText {
  load: Span & { value: number; dualValue: number | null };
  speed: Span & { value: SpeedIndex };
}

/** `91V`, `104/102 R`, `(95Y)`. */
const SERVICE =
  /^(?<open>\s*(?<bracket>\()?\s*)(?<loads>(?<single>\d{2,3})(?:\s?\/\s?(?<dual>\d{2,3}))?)(?<gap>\s?)(?<speed>[A-Z])(?<close>\s?\))?/;
/** What may follow a service description that stands alone in a row. */
const AFTER_SERVICE = /^\s*(?:XL|TL|M\s?[+&]\s?S|EXTRA\s?LOAD|REINFORCED|TUBELESS)?\s*$/;

/**
 * Load index and speed symbol at a position of the text.
 * @param isAlone whether only marks may follow: without a preceding size, a number and a letter prove little
 */
export function serviceAt(text: string, place: number, { isAlone }: { isAlone: boolean }): ServiceText | null {
  const match = SERVICE.exec(text.slice(place));
  if (!match?.groups) return null;
  const { open = '', bracket, loads = '', single, dual, gap = '', speed = '', close } = match.groups;
  const [value, dualValue] = [Number(single), dual === undefined ? null : Number(dual)];
  if (!isSpeedSymbol(speed) || maximumLoadKg(value) === null) return null;
  if (dualValue !== null && maximumLoadKg(dualValue) === null) return null;
  if (isAlone && !AFTER_SERVICE.test(text.slice(place + match[0].length))) return null;
  const start = place + open.length;
  const speedStart = start + loads.length + gap.length;
  return {
    load: { start, end: start + loads.length, value, dualValue },
    speed: {
      start: speedStart,
      end: speedStart + 1,
      // Brackets mean above the speed of the symbol.
      value: speed === 'Y' && bracket !== undefined && close !== undefined ? '(Y)' : speed,
    },
  };
}

/** The symbols of a tire identification number: without G, I, O, Q, S and Z. Source: 49 CFR 574.5. */
export const TIN_SYMBOLS = Array.from('ABCDEFHJKLMNPRTUVWXY0123456789');

/** `DOT` and the groups of letters and digits after it in a row. */
export interface DotText {
  /** The three letters; the O may have been read as 0 or Q. */
  dot: Span;
  groups: Span[];
}

const DOT = /(?<![A-Z0-9])D[O0Q]T/;

export function findDot(text: string): DotText | null {
  const match = DOT.exec(text);
  if (!match) return null;
  const end = match.index + match[0].length;
  const groups = [...text.slice(end).matchAll(/[A-Z0-9]+/g)].map(({ index, 0: group }) => ({
    start: end + index,
    end: end + index + group.length,
  }));
  return { dot: { start: match.index, end }, groups };
}

export interface TinParts {
  plantCode: string;
  sizeCode: string | null;
  optionCode: string | null;
  week: number | null;
  year: number | null;
}

const DATE_LENGTH = 4;
/** Since 2015: three symbols for the plant, six of the manufacturer, four digits of the date. */
const NEW_LENGTH = 13;
const NEW_PLANT = 3;
/** Before 2015: two symbols for the plant, two for the size, up to four of the manufacturer, and optionally the date. */
const OLD = { plant: 2, size: 2, mostOptional: 4 };
const OLD_LENGTHS = { least: OLD.plant + OLD.size, most: OLD.plant + OLD.size + OLD.mostOptional };
const RETREADED_LENGTH = NEW_PLANT + DATE_LENGTH;

/** @param symbols without `DOT` and spaces; returns null if they fit neither form */
export function tinPartsOf(symbols: string): TinParts | null {
  const date = dateOf(symbols.slice(-DATE_LENGTH));
  const code = date ? symbols.slice(0, -DATE_LENGTH) : symbols;
  const dated = { week: date?.week ?? null, year: date?.year ?? null };
  if (date && symbols.length === RETREADED_LENGTH)
    return { plantCode: code, sizeCode: null, optionCode: null, ...dated };
  if (code.length === NEW_LENGTH - DATE_LENGTH) {
    return { plantCode: code.slice(0, NEW_PLANT), sizeCode: null, optionCode: code.slice(NEW_PLANT), ...dated };
  }
  if (!isWithin(code.length, OLD_LENGTHS)) return null;
  const [plantCode, sizeCode] = [code.slice(0, OLD.plant), code.slice(OLD.plant, OLD_LENGTHS.least)];
  return { plantCode, sizeCode, optionCode: code.slice(OLD_LENGTHS.least) || null, ...dated };
}

/** Week and year, four digits since 2000. Older three-digit dates leave the decade open and are ignored. */
function dateOf(digits: string): { week: number; year: number } | null {
  if (!/^\d{4}$/.test(digits)) return null;
  const week = Number(digits.slice(0, 2));
  return week >= 1 && week <= 53 ? { week, year: 2000 + Number(digits.slice(2)) } : null;
}

type Mark = (typeof TIRE_MARKS)[number];

/** Marks written in letters. The snowflake and ice symbols are pictograms and are not read. */
const MARKS: readonly (readonly [Mark, RegExp])[] = [
  ['mud_and_snow', /M\s?[+&]\s?S(?![A-Z])|(?<![A-Z])M[/.]S(?![A-Z])/],
  // Text recognition loses spaces: XL may directly follow a speed symbol or a common word.
  ['extra_load', /(?<=^|[^A-Z0-9]|\d[A-Z]|RADIAL|TUBELESS)XL(?![A-Z0-9])|EXTRA\s?LOAD|REINFORCED/],
  ['run_flat', /RUN[\s-]?FLAT|(?<![A-Z])RFT(?![A-Z])/],
  ['tubeless', /TUBELESS/],
  ['outside', /OUTSIDE|SIDE\s?FACING\s?OUTWARDS?/],
  ['inside', /INSIDE|SIDE\s?FACING\s?INWARDS?/],
  ['rotation', /ROTATION/],
];

export function findMarks(text: string): (Span & { mark: Mark })[] {
  return MARKS.flatMap(([mark, pattern]) => {
    const match = pattern.exec(text);
    return match ? [{ mark, start: match.index, end: match.index + match[0].length }] : [];
  });
}

type Season = (typeof TIRE_SEASONS)[number];

const SEASONS: readonly (readonly [Season, RegExp])[] = [
  ['all_season', /(?<![A-Z])ALL[\s-]?SEASONS?(?![A-Z])/],
  ['winter', /(?<![A-Z])WINTER(?![A-Z])/],
  ['summer', /(?<![A-Z])SUMMER(?![A-Z])/],
];

/** A season written as a word. */
export function findSeason(text: string): (Span & { season: Season }) | null {
  for (const [season, pattern] of SEASONS) {
    const match = pattern.exec(text);
    if (match) return { season, start: match.index, end: match.index + match[0].length };
  }
  return null;
}

/** Brands whose names mean nothing else on a sidewall. Other brands are not recognised. */
const BRANDS = [
  'APTANY',
  'BARUM',
  'BFGOODRICH',
  'BRIDGESTONE',
  'CONTINENTAL',
  'DEBICA',
  'DUNLOP',
  'FALKEN',
  'FIRESTONE',
  'FULDA',
  'GISLAVED',
  'GOODYEAR',
  'HANKOOK',
  'KLEBER',
  'KUMHO',
  'LASSA',
  'LINGLONG',
  'MAXXIS',
  'MICHELIN',
  'NANKANG',
  'NEXEN',
  'NOKIAN',
  'PETLAS',
  'PIRELLI',
  'SAILUN',
  'SEMPERIT',
  'TOYO',
  'UNIROYAL',
  'VREDESTEIN',
  'YOKOHAMA',
];
const BRAND = new RegExp(`(?<![A-Z])(?:${BRANDS.join('|')})(?![A-Z])`);

export function findBrand(text: string): (Span & { brand: string }) | null {
  const match = BRAND.exec(text);
  return match ? { brand: match[0], start: match.index, end: match.index + match[0].length } : null;
}
