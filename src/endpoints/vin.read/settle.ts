/** What is printed and what is coded → one VIN. */
import { type Box, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import type { CodedVin } from '../shared/coded-vins.ts';
import { checkDigit, requiresCheckDigit } from './check-digit.ts';
import type { Result } from './result.ts';

export type Vin = NonNullable<Result['vin']>;

export interface PrintedVin {
  characters: Vin['characters'];
  confidence: number;
  box: Box;
  quad: readonly Point[];
}

const UNREADABLE = '?';
/** A code is right or is not decoded; a printed number that agrees rules out that it is another part's. */
const AGREED = 0.999;
const CODED = 0.99;
/** More different characters belong to two numbers, not to two readings of one. */
const MOST_MISREAD = 4;
/** Below one half: the reading is more likely wrong than right. */
const DISPUTED = 0.4;

/**
 * A code that agrees with the print settles it. Where they differ a little, a code with the right check digit holds. Otherwise
 * the one of the two with the right check digit does, if its market requires one, or else the print, with little confidence.
 */
export function settle(printed: PrintedVin | null, coded: readonly CodedVin[]): Vin | null {
  if (!printed) return coded.length === 1 && coded[0] ? asCoded(coded[0]) : null;
  const print = textOf(printed);
  const [nearest] = coded.toSorted((a, b) => differences(print, a.text) - differences(print, b.text));
  if (!nearest) return asPrinted(printed);
  const misread = differences(print, nearest.text);
  if (misread === 0) return asAgreed(printed, nearest.text);
  // Of two readings of one number, in any market: a code's check digit is right by chance once in eleven times.
  const isCodeChecked = checkDigit(nearest.text).valid === true && checkDigit(print).valid !== true;
  if (isCodeChecked && misread <= MOST_MISREAD) return asAgreed(printed, nearest.text, CODED);
  const isPrintRight = isRightlyChecked(print);
  if (isPrintRight === isRightlyChecked(nearest.text)) return asDisputed(printed, nearest.text);
  if (isPrintRight) return asPrinted(printed);
  // Two numbers: that in print is wrong only if it must have a check digit.
  return requiresCheckDigit(print) ? asCoded(nearest) : asDisputed(printed, nearest.text);
}

function asPrinted({ characters, confidence, box, quad }: PrintedVin): Vin {
  const text = textOf({ characters });
  return {
    text,
    confidence,
    characters,
    location: null,
    bbox: toBoundingBox(box),
    quad: toPolygon(quad),
    check_digit: checkDigit(text),
  };
}

/** Without places for its characters: the boxes of all are that of the code. */
function asCoded({ text, quad }: CodedVin): Vin {
  const box = boxAround(quad);
  const bbox = toBoundingBox(box);
  const characters = Array.from(text, (character) => ({ character, confidence: CODED, bbox }));
  return asPrinted({ characters, confidence: CODED, box, quad });
}

/** The print with the characters of the code. */
function asAgreed(printed: PrintedVin, text: string, confidence = AGREED): Vin {
  const characters = printed.characters.map((each, place) => ({
    ...each,
    character: text.charAt(place),
    confidence: Math.max(confidence, each.character === text.charAt(place) ? each.confidence : 0),
  }));
  return asPrinted({ ...printed, characters, confidence });
}

function asDisputed(printed: PrintedVin, text: string): Vin {
  const characters = printed.characters.map((each, place) =>
    each.character === text.charAt(place) ? each : { ...each, confidence: Math.min(each.confidence, DISPUTED) },
  );
  return asPrinted({ ...printed, characters, confidence: Math.min(printed.confidence, DISPUTED) });
}

function isRightlyChecked(text: string): boolean {
  return requiresCheckDigit(text) && checkDigit(text).valid === true;
}

function textOf({ characters }: Pick<PrintedVin, 'characters'>): string {
  return characters.map(({ character }) => character).join('');
}

/** Places where two texts differ; an unreadable character differs from none. */
function differences(print: string, text: string): number {
  return Array.from(print).filter((character, place) => character !== UNREADABLE && character !== text.charAt(place))
    .length;
}
