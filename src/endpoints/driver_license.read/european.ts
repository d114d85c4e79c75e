/**
 * The numbered fields of the European model (Directive 2006/126/EC, annex I), on its front and in the table of its back.
 */
import { findDate, thisCentury } from './dates.ts';
import { isBeside, type Page, type Piece, partOf, type Reading, type Run, readingOf, runOf } from './page.ts';

/** A category with what the table says about it. */
export interface Category {
  code: string;
  valid_from: string | null;
  valid_until: string | null;
  restrictions: string[];
  confidence: number;
  image_index: number;
  bbox: Reading['bbox'];
}

export const CATEGORIES = new Set('AM A1 A2 A B1 B BE C1 C1E C CE D1 D1E D DE T L M K F G S W'.split(' '));

const NUMBERS = ['1', '2', '3', '4a', '4b', '4c', '4d', '5', '7', '8', '9'] as const;
type FieldNumber = (typeof NUMBERS)[number];

/**
 * The point may be lost in print; single digits need it, as they could be part of a value. Only at the start of a piece may a
 * digit follow at once, unless the whole is a date.
 */
const NUMBER =
  /(?:^|(?<=\s))(?:(4[abcd])(?:[.,]|(?=\s|$|\d\d[.,/ -]|\p{L}{2}))|([1235789])\s?[.,](?=\s|$|[^\d\s.,]))|^([1235789])[.,](?=\d)(?!\d{1,2}[.,]\d{2,4}$)/giu;
/** Gaps in heights of the number: to its value, and between the pieces of a value. */
const GAP_AFTER_NUMBER = 5;
const GAP_IN_VALUE = 2;
/** Pieces of a row of fields are similarly high; a watermark is not. */
const GREATEST_PROPORTION = 1.8;
/** To the next line of a value, and how far to the side that may begin, in heights. */
const LINE_GAP = 0.9;
const INDENT = 1;
const MOST_LINES = 3;

/** How a model of licences numbers its fields. */
export interface Numbering {
  /** Each group is a number. */
  pattern: RegExp;
  /** Fields that may go on in the lines below. */
  continued: readonly FieldNumber[];
}

const EUROPEAN: Numbering = { pattern: NUMBER, continued: ['2', '8'] };

export type NumberedFields = ReadonlyMap<FieldNumber, Run>;

/** The text after each number. */
export function findNumberedFields({ rows }: Page, numbering = EUROPEAN): NumberedFields {
  const { pattern, continued } = numbering;
  const fields = new Map<FieldNumber, Run>();
  for (const row of rows) {
    for (const [place, piece] of row.entries()) {
      const numbers = [...piece.text.matchAll(pattern)];
      for (const [index, match] of numbers.entries()) {
        const number = match
          .slice(1)
          .find((group) => group !== undefined)
          ?.toLowerCase() as FieldNumber;
        if (!NUMBERS.includes(number) || fields.has(number)) continue;
        const end = numbers[index + 1]?.index;
        const here = partOf(piece, match.index + match[0].length, end);
        const after =
          end === undefined ? piecesAfter(piece, row.slice(place + 1), here.text.trim() !== '', pattern) : [];
        const value = trimmed([...(here.text.trim() === '' ? [] : [here]), ...after]);
        if (value.text === '') continue;
        fields.set(
          number,
          continued.includes(number) ? withLinesBelow(value, after[0] ?? piece, rows, pattern) : value,
        );
      }
    }
  }
  return fields;
}

function piecesAfter({ box: start }: Piece, others: readonly Piece[], isStarted: boolean, pattern: RegExp): Piece[] {
  const taken: Piece[] = [];
  const height = start.y1 - start.y0;
  let [end, gap] = [start.x1, isStarted ? GAP_IN_VALUE : GAP_AFTER_NUMBER];
  for (const piece of others) {
    const proportion = (piece.box.y1 - piece.box.y0) / height;
    if (piece.text.search(pattern) === 0 || piece.box.x0 - end > gap * height || proportion > GREATEST_PROPORTION)
      break;
    taken.push(piece);
    [end, gap] = [piece.box.x1, GAP_IN_VALUE];
  }
  return taken;
}

function withLinesBelow(value: Run, first: Piece, rows: readonly (readonly Piece[])[], pattern: RegExp): Run {
  let [whole, { box }] = [value, first];
  for (let line = 1; line < MOST_LINES; line += 1) {
    const height = box.y1 - box.y0;
    const next = rows
      .find((row) => {
        const gap = (row[0]?.box.y0 ?? 0) - box.y1;
        return !row.some((piece) => isBeside(piece.box, box)) && gap > -height / 2 && gap < LINE_GAP * height;
      })
      ?.find((piece) => Math.abs(piece.box.x0 - box.x0) < INDENT * height);
    const row = next && rows.find((pieces) => pieces.includes(next));
    if (!next || !row || row.slice(0, row.indexOf(next) + 1).some(({ text }) => text.search(pattern) >= 0)) break;
    whole = {
      text: `${whole.text}\n${next.text}`,
      characters: [...whole.characters, null, ...next.characters],
    };
    box = next.box;
  }
  return whole;
}

function trimmed(parts: readonly (Run | Piece)[]): Run {
  const whole = {
    text: parts.map(({ text }) => text).join(' '),
    characters: parts.flatMap(({ characters }, index) => [...(index > 0 ? [null] : []), ...characters]),
  };
  const start = whole.text.length - whole.text.trimStart().length;
  return partOf(whole, start, whole.text.trimEnd().length);
}

/** The categories of field 9 on the front. */
export function categoriesOfFront(run: Run, imageIndex: number): Category[] {
  return [...run.text.matchAll(/[A-Z]{1,2}\d?E?/g)].flatMap((match) => {
    const reading = readingOf(partOf(run, match.index, match.index + match[0].length), imageIndex);
    return reading && CATEGORIES.has(reading.value) ? [categoryOf(reading)] : [];
  });
}

/** The rows of the table that have a date: categories that the holder has. Null if the page shows no such table. */
export function readTable({ rows, pieces, imageIndex }: Page): Category[] | null {
  const header = rows.find((row) => columnOf(row, '10') && columnOf(row, '11'));
  const [from, until, codes] = ['10', '11', '12'].map((number) => header && columnOf(header, number));
  if (!header || !from || !until) return null;
  const top = from.box.y1;
  return pieces.flatMap((piece) => {
    const code = piece.text.replaceAll(/\s/g, '');
    if (!CATEGORIES.has(code) || piece.box.y0 < top || piece.box.x1 > from.box.x0) return [];
    const beside = pieces.filter(({ box }) => box.x0 > piece.box.x1 && isBeside(box, piece.box));
    const dates = beside.flatMap((other) => datesOf(other, imageIndex));
    const middle = (from.box.x0 + until.box.x0) / 2;
    const [valid_from, valid_until] = [dates.find(({ x0 }) => x0 < middle), dates.find(({ x0 }) => x0 >= middle)];
    const own = readingOf(piece, imageIndex);
    if (!own || (!valid_from && !valid_until)) return [];
    const restrictions = codes ? beside.filter(({ box }) => box.x0 > (until.box.x1 + codes.box.x0) / 2) : [];
    const read = [own, valid_from?.reading, valid_until?.reading].filter((reading) => reading !== undefined);
    return [
      {
        ...categoryOf(own),
        valid_from: valid_from?.reading.value ?? null,
        valid_until: valid_until?.reading.value ?? null,
        restrictions: [...runOf(restrictions).text.matchAll(/\b\d{2,3}(?:\.\d{2,3})?\b/g)].map(([found]) => found),
        confidence: Math.min(...read.map(({ confidence }) => confidence)),
      },
    ];
  });
}

function datesOf(piece: Piece, imageIndex: number): { x0: number; reading: Reading }[] {
  const found: { x0: number; reading: Reading }[] = [];
  const { box, text } = piece;
  for (let start = 0; start < text.length; ) {
    const date = findDate(text.slice(start), { centuryOf: thisCentury });
    if (!date) break;
    const reading = readingOf(partOf(piece, start + date.from, start + date.to), imageIndex, date.iso);
    const share = (start + date.from) / text.length;
    if (reading) found.push({ x0: box.x0 + share * (box.x1 - box.x0), reading });
    start += date.to;
  }
  return found;
}

function columnOf(row: readonly Piece[], number: string): Piece | undefined {
  return row.find(({ text }) => new RegExp(`^${number}\\s?[.,]?$`).test(text.trim()));
}

function categoryOf({ value, confidence, image_index, bbox }: Reading): Category {
  return { code: value, valid_from: null, valid_until: null, restrictions: [], confidence, image_index, bbox };
}
