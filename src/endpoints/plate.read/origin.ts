/** Where a plate comes from, as its picture shows it: the letters of a band, or the name of a state above or below. */
import type { Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import type { Glyph } from './glyphs.ts';
import { likelihoodOf } from './glyphs.ts';

export interface Origin {
  country: string;
  region: string | null;
  confidence: number;
}

/** Distinguishing signs of vehicles in international traffic (Vienna Convention on Road Traffic, annex 3). */
const SIGNS: Readonly<Record<string, string>> = {
  A: 'AT',
  B: 'BE',
  BG: 'BG',
  CH: 'CH',
  CY: 'CY',
  CZ: 'CZ',
  D: 'DE',
  DK: 'DK',
  E: 'ES',
  EST: 'EE',
  F: 'FR',
  FIN: 'FI',
  GB: 'GB',
  GR: 'GR',
  H: 'HU',
  HR: 'HR',
  I: 'IT',
  IRL: 'IE',
  IS: 'IS',
  L: 'LU',
  LT: 'LT',
  LV: 'LV',
  M: 'MT',
  N: 'NO',
  NL: 'NL',
  P: 'PT',
  PL: 'PL',
  RO: 'RO',
  S: 'SE',
  SK: 'SK',
  SLO: 'SI',
  UK: 'GB',
};

/** ISO 3166-2 by name on the plate. */
const STATES: Readonly<Record<string, string>> = {
  ALABAMA: 'US-AL',
  ALASKA: 'US-AK',
  ARIZONA: 'US-AZ',
  ARKANSAS: 'US-AR',
  CALIFORNIA: 'US-CA',
  COLORADO: 'US-CO',
  CONNECTICUT: 'US-CT',
  DELAWARE: 'US-DE',
  FLORIDA: 'US-FL',
  GEORGIA: 'US-GA',
  HAWAII: 'US-HI',
  IDAHO: 'US-ID',
  ILLINOIS: 'US-IL',
  INDIANA: 'US-IN',
  IOWA: 'US-IA',
  KANSAS: 'US-KS',
  KENTUCKY: 'US-KY',
  LOUISIANA: 'US-LA',
  MAINE: 'US-ME',
  MARYLAND: 'US-MD',
  MASSACHUSETTS: 'US-MA',
  MICHIGAN: 'US-MI',
  MINNESOTA: 'US-MN',
  MISSISSIPPI: 'US-MS',
  MISSOURI: 'US-MO',
  MONTANA: 'US-MT',
  NEBRASKA: 'US-NE',
  NEVADA: 'US-NV',
  NEWHAMPSHIRE: 'US-NH',
  NEWJERSEY: 'US-NJ',
  NEWMEXICO: 'US-NM',
  NEWYORK: 'US-NY',
  NORTHCAROLINA: 'US-NC',
  NORTHDAKOTA: 'US-ND',
  OHIO: 'US-OH',
  OKLAHOMA: 'US-OK',
  OREGON: 'US-OR',
  PENNSYLVANIA: 'US-PA',
  RHODEISLAND: 'US-RI',
  SOUTHCAROLINA: 'US-SC',
  SOUTHDAKOTA: 'US-SD',
  TENNESSEE: 'US-TN',
  TEXAS: 'US-TX',
  UTAH: 'US-UT',
  VERMONT: 'US-VT',
  VIRGINIA: 'US-VA',
  WASHINGTON: 'US-WA',
  WESTVIRGINIA: 'US-WV',
  WISCONSIN: 'US-WI',
  WYOMING: 'US-WY',
  ALBERTA: 'CA-AB',
  BRITISHCOLUMBIA: 'CA-BC',
  MANITOBA: 'CA-MB',
  NEWBRUNSWICK: 'CA-NB',
  NOVASCOTIA: 'CA-NS',
  ONTARIO: 'CA-ON',
  QUEBEC: 'CA-QC',
  SASKATCHEWAN: 'CA-SK',
};

/** In heights of the number. */
const WIDEST_GAP = 1;
/** A band's letters are smaller than the number, a state's name too. */
const MOST_RELATIVE_HEIGHT = 0.9;

/** @param quad of the number @param leading glyphs read as one line with the number, before it */
export function originOf(quad: Quad, leading: readonly Glyph[], lines: readonly PrintedLine[]): Origin | null {
  const sign = Object.entries(SIGNS).find(
    ([letters]) => letters.length === leading.length && letters.length > 1 && spells(leading, letters),
  );
  if (sign) return { country: sign[1], region: null, confidence: weakestOf(leading.map(({ printed }) => printed)) };
  const found = lines.flatMap((line) => originBy(line, quad)).toSorted((a, b) => b.confidence - a.confidence);
  return found[0] ?? null;
}

function spells(glyphs: readonly Glyph[], letters: string): boolean {
  return glyphs.every((glyph, index) => likelihoodOf(glyph, letters.charAt(index)) >= 0.5);
}

function originBy(line: PrintedLine, quad: Quad): Origin[] {
  const text = line.characters
    .map(({ character }) => character)
    .join('')
    .toUpperCase();
  const letters = text
    .replace(/[^\p{L}]/gu, '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '');
  const confidence = weakestOf(line.characters);
  const [place, number] = [boxAround(line.quad), boxAround(quad)];
  const [height, ownHeight] = [number.y1 - number.y0, place.y1 - place.y0];
  if (ownHeight > MOST_RELATIVE_HEIGHT * height) return [];
  const middle = { x: (place.x0 + place.x1) / 2, y: (place.y0 + place.y1) / 2 };
  const isBeside =
    middle.y > number.y0 && middle.y < number.y1 && middle.x < number.x0 && number.x0 - place.x1 < WIDEST_GAP * height;
  const country = SIGNS[letters];
  if (isBeside && country && letters === text) return [{ country, region: null, confidence }];
  const isAcross = middle.x > number.x0 && middle.x < number.x1 && place.x1 - place.x0 <= number.x1 - number.x0;
  const gap = Math.max(number.y0 - place.y1, place.y0 - number.y1);
  const state = STATES[letters];
  if (isAcross && gap < WIDEST_GAP * height && state)
    return [{ country: state.slice(0, 2), region: state, confidence }];
  return [];
}
