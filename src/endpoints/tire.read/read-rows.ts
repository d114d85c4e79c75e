/** Rows of text on a sidewall → tire data, each field with its location. */
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import { asOneOf, boxOf, type PrintedRow, quadOf, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';
import { MAXIMUM_SPEEDS_KMH, maximumLoadKg } from './load-and-speed.ts';
import type { Result } from './result.ts';
import {
  findBrand,
  findDot,
  findMarks,
  findSeason,
  findSize,
  placeOfSlash,
  type ServiceText,
  type SizeText,
  type Span,
  serviceAt,
  TIN_SYMBOLS,
  tinPartsOf,
} from './sidewall-text.ts';

type Readings = Pick<Result, 'size' | 'load_index' | 'speed_index' | 'dot' | 'brand' | 'season' | 'marks'>;
type Certain = { confidence: number };

/** A row in upper case. */
interface Row {
  text: string;
  characters: readonly PrintedCharacter[];
}

/** If several rows state the same field, the most confident one counts. */
export function readRows(printed: readonly PrintedRow[]): Readings {
  const rows = printed.map(({ text, characters }) =>
    withSlash({ text: Array.from(text, inUpperCase).join(''), characters }),
  );
  const sizes = rows.flatMap((row) => {
    const size = findSize(row.text);
    return size ? [{ row, size, confidence: weakestOf(partOf(row, size)) }] : [];
  });
  const [size] = sizes.toSorted(surestFirst);
  const service = size ? serviceOf(size.row, size.size, rows) : null;
  const dots = rows.flatMap((row) => dotOf(row) ?? []);
  return {
    size: size ? sizeOf(size.row, size.size) : null,
    load_index: service ? loadIndexOf(service) : null,
    speed_index: service ? speedIndexOf(service) : size?.size.isZr ? zrOf(size.row, size.size) : null,
    dot: dots.toSorted(surestFirst)[0] ?? null,
    brand: brandOf(rows),
    season: seasonOf(rows),
    marks: marksOf(rows, size),
  };
}

function inUpperCase(character: string): string {
  const capital = character.toUpperCase();
  // The upper case of ß has two characters.
  return capital.length === character.length ? capital : character;
}

const SLASH = new Set('/');

/** Replaces a stroke at the position of a size's slash if the slash was among the network's candidates, at its probability. */
function withSlash(row: Row): Row {
  const place = placeOfSlash(row.text);
  const read = place === null ? undefined : row.characters[place];
  const slash = read && asOneOf(read, SLASH);
  if (place === null || !slash) return row;
  return {
    text: `${row.text.slice(0, place)}/${row.text.slice(place + 1)}`,
    characters: row.characters.with(place, slash),
  };
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
    polygon: toPolygon(quadOf(part)),
  };
}

function sizeOf(row: Row, size: SizeText): NonNullable<Result['size']> {
  return {
    ...letteringOf(partOf(row, size), size.text),
    service: size.service,
    width_mm: size.widthMm,
    aspect_ratio: size.aspectRatio,
    construction: size.construction,
    rim_inches: size.rimInches,
  };
}

type Service = ServiceText & { row: Row };

/** The service description after the size, or else alone in a row. */
function serviceOf(row: Row, size: SizeText, rows: readonly Row[]): Service | null {
  const after = serviceAt(row.text, size.end, { isAlone: false });
  if (after) return { ...after, row };
  const alone = rows.flatMap((other) => {
    const service = serviceAt(other.text, 0, { isAlone: true });
    if (!service) return [];
    return [{ ...service, row: other, confidence: weakestOf(partOf(other, { start: 0, end: service.speed.end })) }];
  });
  return alone.toSorted(surestFirst)[0] ?? null;
}

function loadIndexOf({ row, load }: Service): Result['load_index'] {
  const maximum = maximumLoadKg(load.value);
  if (maximum === null) return null;
  return {
    value: load.value,
    dual_value: load.dualValue,
    maximum_load_kg: maximum,
    ...certaintyOf(partOf(row, load)),
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
  return next && LIKE_A_DATE.test(row.text.slice(next.start, next.end)) ? null : best;
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

function marksOf(rows: readonly Row[], size: { row: Row; size: SizeText } | undefined): Result['marks'] {
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
