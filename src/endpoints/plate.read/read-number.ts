/** Readings of one piece of print → the registration number that they show. */
import type { Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { quadOf } from '../../inference/toolkit/text/print-rows.ts';
import { type Fit, fitFormat, isMostlyRead } from './fit-format.ts';
import { confidenceOf } from './glyphs.ts';
import { EUROPE } from './grammars/europe.ts';
import { type Format, formatsOf, UNLISTED } from './grammars/grammar.ts';
import { NORTH_AMERICA } from './grammars/north-america.ts';
import type { Origin } from './origin.ts';
import { type Piece, SHORTEST, SHORTEST_FOUND } from './pieces.ts';

export interface Estimate {
  value: string;
  confidence: number;
}

export interface RegistrationNumber {
  text: string;
  /** One per character of the text. */
  confidences: number[];
  quad: Quad;
  /** ISO 3166-1 alpha-2. */
  country: Estimate | null;
  /** ISO 3166-2. */
  region: Estimate | null;
  /** How badly the readings fit it, in nats. */
  cost: number;
}

const LISTED = formatsOf([...EUROPE, ...NORTH_AMERICA]);
/** Formats of print that may be anything. */
export const IN_PRINT = LISTED.filter(({ length }) => length >= SHORTEST);
/** Formats of print that stands on a plate. */
export const ON_PLATES = [...LISTED.filter(({ length }) => length >= SHORTEST_FOUND), ...formatsOf([UNLISTED])];
/** In nats, as all costs; see `fitFormat`. */
const HIGHEST_COST = 6.5;
/** A number with a less certain character is a guess. */
const LEAST_CONFIDENCE = 0.3;
/** Over all readings, one that does not show the number counts as the highest. */
const HIGHEST_MEAN_COST = 4.5;
/** Formats that fit nearly as well as the best do not tell the country. */
const AS_GOOD = 1.5;
/** Decides between formats that fit alike, but costs less than any misread character. */
const HINT = 0.6;
/** A listed format is likelier, even if a seal or an edge was read as a character. */
const NO_FORMAT = 1.5;
/** Words stand on plates and their frames more often than numbers of letters alone. */
const LETTERS_ALONE = 1;
/** A number without a format has nothing but its characters to rely on. */
const LEAST_CONFIDENCE_UNLISTED = 0.5;
/** Countries that are not listed have the same formats, so that a format alone proves no country. */
const BY_FORMAT = 0.8;
const BY_HINT = 0.5;

/**
 * Each text that a reading suggests is held against all of them, so that cuts which are unsure of different characters
 * complete each other.
 * @param readings of the same piece @param origin what stands beside it @param hint the country to assume
 * @param formats that it may have
 */
export function readNumber(
  readings: readonly Piece[],
  origin: Origin | null,
  hint: string | null,
  formats: readonly Format[],
): RegistrationNumber | null {
  const suggested = readings.flatMap((piece) => fitsOf(piece, origin, formats));
  const texts = [...Map.groupBy(suggested, ({ text }) => text).values()];
  const numbers = texts.flatMap((fits) => {
    const text = fits[0]?.text ?? '';
    const fitting = new Set(fits.map(({ format }) => format));
    return [...fitting].flatMap(
      (format) => agreementOn(text, format, readings, bonusOf(text, format, origin, hint)) ?? [],
    );
  });
  const sorted = numbers.toSorted((a, b) => a.cost - b.cost);
  const [best] = sorted;
  if (!best || best.cost > HIGHEST_MEAN_COST) return null;
  const weakest = Math.min(...best.confidences);
  if (weakest < (best.format.country === null ? LEAST_CONFIDENCE_UNLISTED : LEAST_CONFIDENCE)) return null;
  const alike = sorted.filter(({ text, cost }) => text === best.text && cost <= best.cost + AS_GOOD);
  const { text, confidences, quad, cost } = best;
  return { text, confidences, quad, ...provenance(alike, origin, hint, weakest), cost };
}

interface Agreement {
  format: Format;
  text: string;
  confidences: number[];
  quad: Quad;
  /** Mean over all readings. */
  cost: number;
}

function agreementOn(text: string, format: Format, readings: readonly Piece[], bonus: number): Agreement | null {
  const spelt = spelling(text, format);
  const fits = readings.flatMap((piece) => {
    const fit = fitFormat(piece.glyphs, spelt);
    return fit && fit.cost <= HIGHEST_COST ? [{ fit, piece }] : [];
  });
  const [clearest] = fits.toSorted((a, b) => a.fit.cost - b.fit.cost);
  const [found] = readings;
  if (!clearest || !found) return null;
  const missing = readings.length - fits.length;
  const cost = (fits.reduce((sum, { fit }) => sum + fit.cost, 0) + missing * HIGHEST_COST) / readings.length - bonus;
  const confidences = Array.from(text, (character, index) => {
    const each = fits.map(({ fit }) => (fit.glyphs[index] ? confidenceOf(fit.glyphs[index], character) : 0));
    return each.reduce((sum, confidence) => sum + confidence, 0) / readings.length;
  });
  return { format, text, confidences, quad: quadOfNumber(found, clearest), cost };
}

/** The format with nothing but this text. */
function spelling(text: string, format: Format): Format {
  let next = 0;
  const groups = format.groups.map((places) => places.map(() => text.charAt(next++)));
  return { ...format, groups, codes: null };
}

function bonusOf(text: string, format: Format, origin: Origin | null, hint: string | null): number {
  if (format.country === null) return -NO_FORMAT - (/\d/.test(text) ? 0 : LETTERS_ALONE);
  return (format.country === hint ? HINT : 0) + (isOf(origin, format) ? AS_GOOD : 0);
}

function fitsOf({ glyphs }: Piece, origin: Origin | null, formats: readonly Format[]): Fit[] {
  return formats.flatMap((format) => {
    if (format.needs === 'origin' && !isOf(origin, format)) return [];
    const fit = fitFormat(glyphs, format);
    if (!fit || (isWord(fit) && !origin?.region)) return [];
    return fit.cost <= HIGHEST_COST && isMostlyRead(fit) ? [fit] : [];
  });
}

/** Makes, dealers and `PRIVATE` stand on boards like plates. Letters chosen by an owner stand beside the name of a state. */
function isWord({ format, text }: Fit): boolean {
  return format.country === null && !/\d/.test(text);
}

function isOf(origin: Origin | null, { country, region }: Format): boolean {
  return origin?.country === country && (!origin.region || !region || origin.region === region);
}

function provenance(
  fits: readonly Pick<Fit, 'format' | 'text'>[],
  origin: Origin | null,
  hint: string | null,
  confidence: number,
): Pick<RegistrationNumber, 'country' | 'region'> {
  const countries = new Set(fits.flatMap(({ format }) => format.country ?? []));
  if (origin && (origin.region !== null || countries.has(origin.country))) {
    const value = origin.region ?? regionOf(fits.filter(({ format }) => format.country === origin.country));
    const country = { value: origin.country, confidence: origin.confidence };
    return { country, region: value === null ? null : { value, confidence: origin.confidence } };
  }
  const isHinted = countries.size > 1 && hint !== null && countries.has(hint);
  const [value] = isHinted ? [hint] : [...countries];
  if (value === undefined || (countries.size > 1 && !isHinted)) return { country: null, region: null };
  const estimate = (of: string) => ({ value: of, confidence: confidence * (isHinted ? BY_HINT : BY_FORMAT) });
  const region = regionOf(fits.filter(({ format }) => format.country === value));
  return { country: estimate(value), region: region === null ? null : estimate(region) };
}

/** The region, if all formats agree on it. */
function regionOf(fits: readonly Pick<Fit, 'format' | 'text'>[]): string | null {
  const regions = new Set(
    fits.map(({ format, text }) => format.region ?? format.regionOf?.(text.slice(0, format.groups[0]?.length)) ?? null),
  );
  const [region = null] = regions;
  return regions.size === 1 ? region : null;
}

/** The whole piece as it was found, unless something else stands in it. */
function quadOfNumber(found: Piece, { piece, fit }: { piece: Piece; fit: Fit }): Quad {
  const isWhole = piece.glyphs[0] === fit.glyphs[0] && piece.glyphs.at(-1) === fit.glyphs.at(-1);
  return isWhole || found.lines > 1 ? found.quad : quadOf(fit.glyphs.map(({ printed }) => printed));
}
