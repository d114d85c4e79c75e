/** Lines of a page → fields: the value beside each code or label, or under it. */
import type { DOCUMENT_TYPES } from '../../contracts/vocabulary/documents.ts';
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Layout, Place, PlacedLine } from '../../inference/toolkit/text/page-layout.ts';
import { boxOf, textOf, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';
import { LEGAL_FORMS } from './document-words.ts';
import { FIELD_RULES } from './field-rules.ts';
import { type Anchor, type FieldNumbers, findAnchors } from './find-anchors.ts';
import { type MonthFirst, parseDate } from './parse-date.ts';
import { parseValue, type Value } from './parse-field.ts';
import type { Result } from './result.ts';

type DocumentType = (typeof DOCUMENT_TYPES)[number];
type Field = Result['fields'][number];

export interface Reading {
  type: DocumentType | null;
  /** Whether letters and dotted codes announce values. */
  hasCodes: boolean;
  /** Numbers that announce values, in some countries. */
  numbers?: FieldNumbers;
  monthFirst: MonthFirst;
  /** Of amounts without one. */
  currency: string | null;
  imageIndex: number;
}

/** A piece of a line that may be a value. */
interface Piece {
  characters: readonly PrintedCharacter[];
  text: string;
  place: Place;
}

interface Announcement {
  anchor: Anchor;
  place: Place;
  /** What follows in the same line, before the next announcement. */
  own: Piece | null;
}

/** All in heights of the label's line. */
/** From a label to the value on its right. */
const WIDEST_GAP = 25;
/** A code alone is printed closer to its value. */
const WIDEST_CODE_GAP = 10;
const GREATEST_SHIFT = 0.6;
const DEEPEST_DROP = 3.8;
const LEAST_DROP = 0.5;
const GREATEST_INDENT = 2.5;
/** In a box of a form, under a small label. */
const INDENT_OF_VALUE = 5;
/** A value under its label is less certain than one beside it. */
const BELOW = 4;
/** Between the words of a value. */
const WORD_GAP = 1.2;
const MOST_ADDRESS_LINES = 3;
/** Of each character of a VIN without a label. */
const LEAST_CERTAIN = 0.5;
/** Labels are printed smaller than their values. */
const SMALLER = 0.85;

export function findFields(layout: Layout, reading: Reading): Field[] {
  const announcements: Announcement[] = [];
  const free: Piece[] = [];
  const pieceOf = (characters: readonly PrintedCharacter[]): Piece | null => {
    const from = characters.findIndex(({ character }) => /[\p{L}\p{N}€£$*]/u.test(character));
    const to = characters.findLastIndex(({ character }) => /[\p{L}\p{N}€£$).*³²-]/u.test(character));
    const kept = from < 0 ? [] : characters.slice(from, to + 1);
    return kept.length === 0 ? null : { characters: kept, text: textOf(kept), place: layout.placeOf(kept) };
  };
  for (const { text, characters } of layout.lines) {
    const anchors = findAnchors(text, reading.type, reading.hasCodes, reading.numbers);
    const before = pieceOf(characters.slice(0, anchors[0]?.start ?? text.length));
    if (before) free.push(before);
    for (const [index, anchor] of anchors.entries()) {
      const own = pieceOf(characters.slice(anchor.end, anchors[index + 1]?.start ?? text.length));
      const place = layout.placeOf(
        characters.slice(anchor.start, Math.max(anchor.start + 1, Math.min(anchor.end, characters.length))),
      );
      announcements.push({ anchor, place, own });
    }
  }
  const found = assign(announcements, free, layout, reading);
  const fields = withVin(found, layout, reading);
  return reading.type === 'invoice' ? withIssuer(fields, layout, reading) : fields;
}

interface Candidate {
  announcement: Announcement;
  pieces: readonly Piece[];
  value: Value;
  cost: number;
}

/** Each announcement gets its nearest value, each piece announces one field; the nearest pairs first. */
function assign(
  announcements: readonly Announcement[],
  free: readonly Piece[],
  layout: Layout,
  reading: Reading,
): Field[] {
  const candidates = announcements.flatMap((announcement) =>
    candidatesOf(announcement, announcements, free, layout, reading),
  );
  const served = new Set<Announcement>();
  const taken = new Set<Piece>();
  const chosen: Candidate[] = [];
  for (const candidate of candidates.toSorted((a, b) => a.cost - b.cost)) {
    if (served.has(candidate.announcement) || candidate.pieces.some((piece) => taken.has(piece))) continue;
    served.add(candidate.announcement);
    for (const piece of candidate.pieces) taken.add(piece);
    chosen.push(candidate);
  }
  // In the reading order of the labels.
  return announcements.flatMap((announcement) => {
    const candidate = chosen.find((each) => each.announcement === announcement);
    return candidate ? [toField(candidate, reading.imageIndex)] : [];
  });
}

function candidatesOf(
  announcement: Announcement,
  announcements: readonly Announcement[],
  free: readonly Piece[],
  layout: Layout,
  reading: Reading,
): Candidate[] {
  const { anchor, own, place } = announcement;
  const { rule } = anchor;
  if (!rule) return [];
  const isAddress = rule.type === 'text' && rule.kind === 'address';
  const parsed = (pieces: readonly Piece[], cost: number): Candidate[] => {
    const value = parseValue(rule, joined(pieces, isAddress ? '\n' : ' '), reading);
    return value ? [{ announcement, pieces, value, cost }] : [];
  };
  const isLabelled = isAddress && own !== null && isLabel(own, free, layout);
  if (own && !isDescription(own, anchor) && !isLabelled) {
    const pieces = isAddress ? withLinesBelow([own], free, layout) : [own, ...wordsAfter(own, free, layout)];
    const found = parsed(pieces, 0);
    if (found.length > 0 || anchor.code === null) {
      // A label that continues as another one has no value elsewhere.
      return found.length > 0 ? found : parsed([own], 0);
    }
  }
  const description = own && (isDescription(own, anchor) || isLabelled) ? own : null;
  const end = description?.place ?? place;
  const { right, below } = neighboursOf(
    { start: place.start, end: end.end, height: place.height },
    isBare(anchor) && !description ? WIDEST_CODE_GAP : WIDEST_GAP,
    announcements,
    free,
    layout,
  );
  const complete = (piece: Piece) =>
    isAddress ? withLinesBelow([piece], free, layout) : [piece, ...wordsAfter(piece, free, layout)];
  return [
    ...(right ? parsed(complete(right.piece), right.gap) : []),
    ...(below ? parsed(complete(below.piece), BELOW + below.gap) : []),
  ];
}

/** A code without a description; brackets and a colon may surround it. */
function isBare({ code, start, end }: Anchor): boolean {
  return code !== null && end - start <= code.length + 3;
}

/** A word without a number above larger print: an address's label, misread or in another language. */
function isLabel({ text, place }: Piece, free: readonly Piece[], layout: Layout): boolean {
  if (/\d/.test(text)) return false;
  return free.some((other) => {
    const { right, down } = layout.stepBetween(place.start, other.place.start);
    const isBelow = down > LEAST_DROP * place.height && down < DEEPEST_DROP * place.height;
    return isBelow && Math.abs(right) <= 4 * place.height && place.height < SMALLER * other.place.height;
  });
}

/** Several words, mostly in small letters: what the code means, in a language without a label here. */
function isDescription({ text }: Piece, { code, rule }: Anchor): boolean {
  if (code === null || rule?.type !== 'text') return false;
  const small = (text.match(/\p{Ll}/gu) ?? []).length;
  const large = (text.match(/\p{Lu}/gu) ?? []).length;
  return small > 2 * large + 3 && /\s/.test(text);
}

function joined(pieces: readonly Piece[], separator: string): readonly PrintedCharacter[] {
  return pieces.flatMap((piece, index) => {
    const before = pieces[index - 1]?.characters.at(-1);
    const first = piece.characters[0];
    if (!before || !first) return piece.characters;
    const quad = [before.quad[1], before.quad[1], before.quad[2], before.quad[2]] as const;
    return [{ character: separator, probability: 1, others: [], quad }, ...piece.characters];
  });
}

/** The nearest free piece to the right and below, unless an announcement stands between. */
function neighboursOf(
  from: Place,
  widestGap: number,
  announcements: readonly Announcement[],
  free: readonly Piece[],
  layout: Layout,
) {
  const { height } = from;
  const rightOf = (place: Place) => {
    const { right, down } = layout.stepBetween(from.end, place.start);
    return Math.abs(down) <= GREATEST_SHIFT * height && right >= -0.5 * height && right <= widestGap * height
      ? right / height
      : null;
  };
  const belowOf = (place: Place) => {
    const start = layout.stepBetween(from.start, place.start);
    const drop = start.down / height;
    if (drop < LEAST_DROP || drop > DEEPEST_DROP) return null;
    return start.right >= -GREATEST_INDENT * height && start.right <= INDENT_OF_VALUE * height ? drop : null;
  };
  const nearest = (gapOf: (place: Place) => number | null) => {
    const gaps = free.flatMap((piece) => {
      const gap = gapOf(piece.place);
      return gap === null ? [] : [{ piece, gap }];
    });
    const [first] = gaps.toSorted((a, b) => a.gap - b.gap);
    const barriers = announcements.flatMap(({ place }) =>
      place.start === from.start ? [] : [gapOf(place) ?? Infinity],
    );
    return first && barriers.every((gap) => gap > first.gap) ? first : null;
  };
  return { right: nearest(rightOf), below: nearest(belowOf) };
}

/** Pieces that continue a value in its row. */
function wordsAfter(piece: Piece, free: readonly Piece[], layout: Layout): Piece[] {
  const next = free.find((other) => {
    if (other === piece) return false;
    const { right, down } = layout.stepBetween(piece.place.end, other.place.start);
    const { height } = piece.place;
    return Math.abs(down) <= GREATEST_SHIFT * height && right >= -0.3 * height && right <= WORD_GAP * height;
  });
  return next
    ? [
        next,
        ...wordsAfter(
          next,
          free.filter((other) => other !== piece),
          layout,
        ),
      ]
    : [];
}

/** An address continues in lines that start under it. */
function withLinesBelow(pieces: readonly Piece[], free: readonly Piece[], layout: Layout): Piece[] {
  const last = pieces.at(-1);
  if (!last || pieces.length >= MOST_ADDRESS_LINES) return [...pieces];
  const next = free.find((other) => {
    const { right, down } = layout.stepBetween(last.place.start, other.place.start);
    const { height } = last.place;
    if (parseDate(other.text, false)) return false;
    return Math.abs(right) <= height && down > LEAST_DROP * height && down <= 1.8 * height;
  });
  return next ? withLinesBelow([...pieces, next], free, layout) : [...pieces];
}

function toField({ announcement: { anchor }, value }: Candidate, imageIndex: number): Field {
  return { ...value.typed, label: anchor.label, ...printedOf(value.characters, imageIndex) };
}

function printedOf(characters: readonly PrintedCharacter[], imageIndex: number) {
  return {
    text: textOf(characters).trim(),
    confidence: weakestOf(characters),
    image_index: imageIndex,
    bbox: toBoundingBox(boxOf(characters)),
  };
}

/** A VIN needs no label: nothing else has its form. */
function withVin(fields: Field[], layout: Layout, { imageIndex, ...conventions }: Reading): Field[] {
  if (fields.some(({ name }) => name === 'vin')) return fields;
  const vins = layout.lines.flatMap(({ characters }) => {
    const value = /^\S+$/.test(textOf(characters)) ? parseValue(FIELD_RULES.vin, characters, conventions) : null;
    return value && isCertain(value) ? [value] : [];
  });
  const [only] = vins;
  if (!only || vins.length > 1) return fields;
  return [...fields, { ...only.typed, label: null, ...printedOf(only.characters, imageIndex) }];
}

/** Without a label, each character must be one that a VIN may have, as the network read it, and the last four digits. */
function isCertain({ typed, characters }: Value): boolean {
  return weakestOf(characters) >= LEAST_CERTAIN && /^(?=.*[A-Z]).{13}\d{4}$/.test(String(typed.value));
}

/** Of each character of a VIN that no code needs to confirm. */
const SURE = 0.9;
const VIN = /(?<![A-Z0-9])(?=\d*[A-Z])[A-HJ-NPR-Z0-9]{13}\d{4}(?![A-Z0-9])/;
const VIN_LENGTH = 17;

/** Whether a line shows a VIN, with or without a label, as the network read it and surely. */
export function holdsSureVin({ lines }: Layout): boolean {
  return lines.some(({ text, characters }) => {
    const start = text.search(VIN);
    return start >= 0 && weakestOf(characters.slice(start, start + VIN_LENGTH)) >= SURE;
  });
}

/** Lines at the top of an invoice in which its issuer stands. */
const LETTERHEAD_LINES = 6;

/** The first company of the letterhead. */
function withIssuer(fields: Field[], layout: Layout, { imageIndex, type, hasCodes }: Reading): Field[] {
  const isCompany = ({ text }: PlacedLine) => LEGAL_FORMS.test(text) && findAnchors(text, type, hasCodes).length === 0;
  const line = layout.lines.slice(0, LETTERHEAD_LINES).find(isCompany);
  if (!line || fields.some(({ name }) => name === 'issuer_name')) return fields;
  const printed = printedOf(line.characters, imageIndex);
  return [{ type: 'text', name: 'issuer_name', value: printed.text, label: null, ...printed }, ...fields];
}
