/** Rows of text on a sidewall → tire data, each field with its location. */
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import { asOneOf, boxOf, outlineOf, type PrintedRow, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';
import { MAXIMUM_SPEEDS_KMH, maximumLoadKg } from './load-and-speed.ts';
import type { Result } from './result.ts';
import { plausibilityOf, type Row, type SettledSize, settleSize } from './settle-size.ts';
import {
  findBrand,
  findDot,
  findMarks,
  findSeason,
  type ServiceText,
  serviceAt,
  TIN_SYMBOLS,
  tinPartsOf,
} from './sidewall-text.ts';
import type { SizeText, Span } from './size-text.ts';

type Readings = Pick<Result, 'size' | 'load_index' | 'speed_index' | 'dot' | 'brand' | 'season' | 'marks'>;
type Certain = { confidence: number };

/** If several rows state the same field, the most confident one counts. */
export function readRows(printed: readonly PrintedRow[]): Readings {
  const rows = printed.map(({ text, characters }) => ({ text: Array.from(text, inUpperCase).join(''), characters }));
  const sizes = rows.flatMap((row) => {
    const settled = settleSize(row);
    return settled ? [{ ...settled, confidence: confidenceIn(settled) }] : [];
  });
  const [size] = sizes.toSorted(surestFirst);
  const service = size ? serviceOf(size, rows) : null;
  const dots = rows.flatMap((row) => dotOf(row) ?? []);
  return {
    size: size ? sizeOf(size) : null,
    load_index: service ? loadIndexOf(service) : null,
    speed_index: service ? speedIndexOf(service) : size?.size.isZr ? zrOf(size.row, size.size) : null,
    // A number without its date may have lost it.
    dot:
      dots.toSorted((one, other) => Number(isDated(other)) - Number(isDated(one)) || surestFirst(one, other))[0] ??
      null,
    brand: brandOf(rows),
    season: seasonOf(rows),
    marks: marksOf(rows, size),
  };
}

/** Whether a second reading could find no more of what every sidewall states. */
export function isComplete({ size, load_index, speed_index, dot }: Readings): boolean {
  return size !== null && load_index !== null && speed_index !== null && dot !== null && isDated(dot);
}

function isDated({ week }: NonNullable<Result['dot']>): boolean {
  return week !== null;
}

/** One side of a tire states its code without a date, the other side with it: nothing tells whether the date was missed. */
const UNDATED = 0.5;
/** Below one half: what tires are not made in is more likely misread. */
const IMPLAUSIBLE = 0.4;

function confidenceIn({ row, size, isPlausible }: SettledSize): number {
  return Math.min(weakestOf(partOf(row, size)), isPlausible.size ? 1 : IMPLAUSIBLE);
}

function inUpperCase(character: string): string {
  const capital = character.toUpperCase();
  // The upper case of ß has two characters.
  return capital.length === character.length ? capital : character;
}

const surestFirst = (one: Certain, other: Certain) => other.confidence - one.confidence;

/** The characters of a span, without spaces. */
function partOf({ characters }: Row, { start, end }: Span): PrintedCharacter[] {
  return characters.slice(start, end).filter(({ character }) => character.trim() !== '');
}

function certaintyOf(part: readonly PrintedCharacter[]) {
  return { confidence: weakestOf(part), bbox: toBoundingBox(boxOf(part)) };
}

function letteringOf(part: readonly PrintedCharacter[], text: string) {
  return {
    text,
    characters: part.map(({ character, probability }) => ({
      character: inUpperCase(character),
      confidence: probability,
    })),
    ...certaintyOf(part),
    polygon: toPolygon(outlineOf(part)),
  };
}

function sizeOf(settled: SettledSize): NonNullable<Result['size']> {
  const { row, size } = settled;
  return {
    ...letteringOf(partOf(row, size), size.text),
    confidence: confidenceIn(settled),
    service: size.service,
    width_mm: size.widthMm,
    aspect_ratio: size.aspectRatio,
    construction: size.construction,
    rim_inches: size.rimInches,
  };
}

type Service = ServiceText & { row: Row; isPlausible: boolean };

/** The service description after the size, or else alone in a row. */
function serviceOf({ row, size, service, isPlausible }: SettledSize, rows: readonly Row[]): Service | null {
  if (service) return { ...service, row, isPlausible: isPlausible.load };
  const alone = rows.flatMap((other) => {
    const found = serviceAt(other.text, 0, { isAlone: true });
    if (!found) return [];
    const confidence = weakestOf(partOf(other, { start: 0, end: found.speed.end }));
    return [{ ...found, row: other, isPlausible: plausibilityOf(size, found).load, confidence }];
  });
  return alone.filter((found) => found.isPlausible).toSorted(surestFirst)[0] ?? null;
}

function loadIndexOf({ row, load, isPlausible }: Service): Result['load_index'] {
  const maximum = maximumLoadKg(load.value);
  if (maximum === null) return null;
  const { confidence, bbox } = certaintyOf(partOf(row, load));
  return {
    value: load.value,
    dual_value: load.dualValue,
    maximum_load_kg: maximum,
    confidence: Math.min(confidence, isPlausible ? 1 : IMPLAUSIBLE),
    bbox,
  };
}

function speedIndexOf({ row, speed }: Service): Result['speed_index'] {
  return {
    value: speed.value,
    maximum_speed_kmh: MAXIMUM_SPEEDS_KMH[speed.value],
    ...certaintyOf(partOf(row, speed)),
  };
}

/** `ZR` in the size, without a speed symbol after it. */
function zrOf(row: Row, size: SizeText): Result['speed_index'] {
  const start = size.start + row.text.slice(size.start, size.end).indexOf('ZR');
  return { value: 'ZR', maximum_speed_kmh: null, ...certaintyOf(partOf(row, { start, end: start + 2 })) };
}

/** Maximum characters that may be replaced by the network's next valid candidate. */
const MOST_MENDED = 2;
const SYMBOLS = new Set(TIN_SYMBOLS);
const LETTER_O = new Set('O');
/** A four-digit date with lost or misread digits. */
const LIKE_A_DATE = /^(?=.*\d)[A-Z0-9]{2,5}$/;

function dotOf(row: Row): NonNullable<Result['dot']> | null {
  const found = findDot(row.text);
  if (!found) return null;
  const dot = partOf(row, found.dot).map((each, place) => (place === 1 ? asOneOf(each, LETTER_O) : each));
  if (!dot.every((each) => each !== undefined)) return null;
  // Takes as many groups as form a valid number: a date ends it, otherwise the longest counts.
  let best: NonNullable<Result['dot']> | null = null;
  let groupsOfBest = 0;
  const asRead = partText(row, found.dot, found.groups);
  const taken: PrintedCharacter[][] = [];
  for (const group of found.groups) {
    const symbols = partOf(row, group).map((each) => asOneOf(each, SYMBOLS));
    if (!symbols.every((each) => each !== undefined)) break;
    taken.push(symbols);
    const part = [...dot, ...taken.flat()];
    if (part.filter(({ character }, place) => character !== asRead[place]).length > MOST_MENDED) break;
    const parts = tinPartsOf(spelling(taken.flat()));
    if (!parts) continue;
    groupsOfBest = taken.length;
    best = {
      ...letteringOf(part, `DOT ${taken.map(spelling).join(' ')}`),
      plant_code: parts.plantCode,
      size_code: parts.sizeCode,
      option_code: parts.optionCode,
      week: parts.week,
      year: parts.year,
    };
    if (parts.week !== null) return best;
  }
  const next = found.groups[groupsOfBest];
  // A number followed by something like a date is misread, not undated.
  if (!best || (next && LIKE_A_DATE.test(row.text.slice(next.start, next.end)))) return null;
  return { ...best, confidence: Math.min(best.confidence, UNDATED) };
}

/** The text of these spans as read. */
function partText(row: Row, dot: Span, groups: readonly Span[]): string {
  return [dot, ...groups].map(({ start, end }) => row.text.slice(start, end)).join('');
}

function spelling(characters: readonly PrintedCharacter[]): string {
  return characters.map(({ character }) => character).join('');
}

function brandOf(rows: readonly Row[]): Result['brand'] {
  const found = rows.flatMap((row) => {
    const brand = findBrand(row.text);
    return brand ? [{ value: brand.brand, ...certaintyOf(partOf(row, brand)) }] : [];
  });
  return found.toSorted(surestFirst)[0] ?? null;
}

function seasonOf(rows: readonly Row[]): Result['season'] {
  const found = rows.flatMap((row) => {
    const season = findSeason(row.text);
    return season ? [{ value: season.season, confidence: weakestOf(partOf(row, season)) }] : [];
  });
  return found.toSorted(surestFirst)[0] ?? null;
}

function marksOf(rows: readonly Row[], size: SettledSize | undefined): Result['marks'] {
  const found = rows.flatMap((row) =>
    // The symbols of an identification number are not marks.
    findMarks(row.text.slice(0, findDot(row.text)?.dot.start)).map(({ mark, ...span }) => ({
      mark,
      ...certaintyOf(partOf(row, span)),
    })),
  );
  if (size?.size.isRunFlat) found.push({ mark: 'run_flat', ...certaintyOf(partOf(size.row, size.size)) });
  const surest = found.toSorted(surestFirst);
  return surest.filter(({ mark }, place) => surest.findIndex((other) => other.mark === mark) === place);
}
