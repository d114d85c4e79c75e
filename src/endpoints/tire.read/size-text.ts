/**
 * Parses the size in the text of a row on a tire's sidewall. Texts are in upper case.
 * Sources: ETRTO Standards Manual and ISO 4000-1 (passenger and commercial tires), TRA Year Book (flotation sizes of light
 * trucks).
 */
import type { TIRE_CONSTRUCTIONS, TIRE_SERVICES } from '../../contracts/vocabulary/tires.ts';

/** A half-open range of character positions. */
export interface Span {
  start: number;
  end: number;
}

export interface SizeText extends Span {
  /** In canonical form: `P215/65 R15`, `155/80-13`, `31x10.50 R15LT`. */
  text: string;
  service: (typeof TIRE_SERVICES)[number];
  widthMm: number;
  aspectRatio: number | null;
  construction: (typeof TIRE_CONSTRUCTIONS)[number];
  rimInches: number;
  /** `ZR` in the size: above 240 km/h. */
  isZr: boolean;
  /** `RF` in the size: can be driven without air pressure. */
  isRunFlat: boolean;
}

/** `205/55 R16`, `P215/65R15`, `225/45ZR17`, `195/70R15C`, `120/70-17`. */
const WITH_RATIO =
  /(?<![A-Z0-9/.])(?<before>P|LT|T|HL)?\s?(?<width>\d{2,3})\s?\/\s?(?<ratio>\d{2,3})\s?(?<construction>Z?RF?|D|B|-)\s?(?<rim>\d{2}(?:\.5)?)(?:\s?(?<after>CP?|LT)(?![A-Z]))?/;
/** `185 R14 C`: without an aspect ratio. */
const WITHOUT_RATIO =
  /(?<![A-Z0-9/.])(?<width>\d{3})\s?(?<construction>R)\s?(?<rim>\d{2})(?:\s?(?<after>C)(?![A-Z]))?(?![0-9/.]\D)/;
/** `31X10.50R15LT`: diameter and width in inches. */
const FLOTATION =
  /(?<![A-Z0-9/.])(?<diameter>\d{2}(?:\.\d)?)\s?[X×]\s?(?<inches>\d{1,2}\.\d{2})\s?(?<construction>R|D|-)\s?(?<rim>\d{2}(?:\.5)?)(?:\s?(?<after>LT)(?![A-Z]))?/;

const WIDTHS_MM = { least: 60, most: 455, multipleOf: 5 };
const WIDTHS_WITHOUT_RATIO_MM = { least: 125, most: 235 };
const RATIOS = { least: 20, most: 100, multipleOf: 5 };
/** The only ratio that is not a multiple of 5. */
const OLD_RATIO = 82;
const RIMS_INCHES = { least: 8, most: 30 };
const FLOTATION_DIAMETERS_INCHES = { least: 24, most: 44 };
const FLOTATION_WIDTHS_INCHES = { least: 7, most: 16 };
/** The least a flotation tire's diameter exceeds that of its rim. */
const FLOTATION_HEIGHT_INCHES = 8;
const MILLIMETRES_PER_INCH = 25.4;

export function findSize(text: string): SizeText | null {
  const match = WITH_RATIO.exec(text) ?? WITHOUT_RATIO.exec(text);
  if (!match?.groups) return findFlotationSize(text);
  const { before = '', width = '', ratio, construction = '', rim = '', after = '' } = match.groups;
  const [widthMm, aspectRatio, rimInches] = [Number(width), ratio === undefined ? null : Number(ratio), Number(rim)];
  if (!isWidth(widthMm, aspectRatio) || !isRatio(aspectRatio) || !isWithin(rimInches, RIMS_INCHES)) return null;
  const isRunFlat = construction.endsWith('F');
  const letters = construction.replace('F', '');
  const ratioText = ratio === undefined ? '' : `/${ratio}`;
  const gap = construction === '-' ? '' : ' ';
  return {
    start: match.index,
    end: match.index + match[0].length,
    text: `${before}${width}${ratioText}${gap}${construction}${rim}${after}`,
    service: serviceOf(before, after),
    widthMm,
    aspectRatio,
    construction: letters.endsWith('R') ? 'radial' : letters === 'B' ? 'bias_belted' : 'diagonal',
    rimInches,
    isZr: letters === 'ZR',
    isRunFlat,
  };
}

/** The width in millimetres is rounded; the sidewall states no aspect ratio. */
function findFlotationSize(text: string): SizeText | null {
  const match = FLOTATION.exec(text);
  if (!match?.groups) return null;
  const { diameter = '', inches = '', construction = '', rim = '', after = '' } = match.groups;
  const rimInches = Number(rim);
  const isSize =
    isWithin(Number(diameter), FLOTATION_DIAMETERS_INCHES) &&
    isWithin(Number(inches), FLOTATION_WIDTHS_INCHES) &&
    Number(diameter) - rimInches >= FLOTATION_HEIGHT_INCHES;
  if (!isSize) return null;
  const gap = construction === '-' ? '' : ' ';
  return {
    start: match.index,
    end: match.index + match[0].length,
    text: `${diameter}x${inches}${gap}${construction}${rim}${after}`,
    service: 'light_truck',
    widthMm: Math.round(Number(inches) * MILLIMETRES_PER_INCH),
    aspectRatio: null,
    construction: construction === 'R' ? 'radial' : 'diagonal',
    rimInches,
    isZr: false,
    isRunFlat: false,
  };
}

/** What digits look like to a reader of print. */
const DIGIT = '[0-9OQDSBIZGLA|]';
/** What the slash looks like, above all on curved lettering. */
const SLASH = '[/1IL|T7J]';
/** Between the parts of a size there may be dots and dashes. */
const GAP = '[\\s.·•-]?';
const LIKE_A_SIZE = new RegExp(
  `(?<![A-Z0-9/.])(?:P|LT|T|HL)?\\s?(?<width>${DIGIT}{3})\\s?(?<slash>${SLASH})\\s?(?<ratio>${DIGIT}{2})(?<gap>${GAP})(?:Z?RF?|D|B|-)(?<space>${GAP})(?<rim>${DIGIT}{2})`,
  'd',
);

/** Places of a text that would hold a size if its digits, slash and gaps were read as such; otherwise null. */
export function findLikeSize(text: string): { digits: number[]; slash: number; gaps: number[] } | null {
  const groups = LIKE_A_SIZE.exec(text)?.indices?.groups;
  const { width, slash, ratio, gap, space, rim } = groups ?? {};
  if (!width || !slash || !ratio || !gap || !space || !rim) return null;
  return { digits: [width, ratio, rim].flatMap(placesOf), slash: slash[0], gaps: [gap, space].flatMap(placesOf) };
}

function placesOf([start, end]: [number, number]): number[] {
  return Array.from({ length: end - start }, (_, index) => start + index);
}

function serviceOf(before: string, after: string): SizeText['service'] {
  if (before === 'P') return 'passenger';
  if (before === 'T') return 'temporary_spare';
  if (before === 'LT' || after === 'LT') return 'light_truck';
  return after.startsWith('C') ? 'commercial' : 'euro_metric';
}

function isWidth(width: number, ratio: number | null): boolean {
  const bounds = ratio === null ? WIDTHS_WITHOUT_RATIO_MM : WIDTHS_MM;
  return isWithin(width, bounds) && width % WIDTHS_MM.multipleOf === 0;
}

function isRatio(ratio: number | null): boolean {
  return ratio === null || ratio === OLD_RATIO || (isWithin(ratio, RATIOS) && ratio % RATIOS.multipleOf === 0);
}

export function isWithin(value: number, { least, most }: { least: number; most: number }): boolean {
  return value >= least && value <= most;
}
