/** Lines of print → the number plates among them. A line without the format of any country is not one, whatever it shows. */
import { boxAround, type Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { joinRows, quadOf } from '../../inference/toolkit/text/print-rows.ts';
import { distance } from '../../inference/toolkit/text/straighten.ts';
import type { PrintedCharacter, PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { type Fit, fitFormat } from './fit-format.ts';
import { confidenceOf, type Glyph, glyphsOf } from './glyphs.ts';
import { EUROPE } from './grammars/europe.ts';
import { formatsOf } from './grammars/grammar.ts';
import { NORTH_AMERICA } from './grammars/north-america.ts';
import { type Origin, originOf } from './origin.ts';
import { stacksOf } from './stacks.ts';

export interface FoundPlate {
  text: string;
  /** One per character of the text. */
  confidences: number[];
  quad: Quad;
  country: { value: string; confidence: number } | null;
  region: { value: string; confidence: number } | null;
}

const [SHORTEST, LONGEST] = [5, 12];
const FORMATS = formatsOf([...EUROPE, ...NORTH_AMERICA]).filter(({ length }) => length >= SHORTEST);
/** Costs are in nats; see `fitFormat`. */
const HIGHEST_COST = 6.5;
/** A number with a character less certain than this is a guess. */
const LEAST_CONFIDENCE = 0.2;
/** Formats that fit nearly as well as the best tell apart neither text nor country. */
const AS_GOOD = 1.5;
const HINT = 0.6;
/** Width of a character with its gap, in heights of the line. Badges are set wider, the small print of stamps is too. */
const [NARROWEST, WIDEST] = [0.2, 0.75];
/** Other countries may use the format as well: it alone proves no country. */
const BY_FORMAT = 0.8;
const BY_HINT = 0.5;

export function findPlates(lines: readonly PrintedLine[], hint: string | null): FoundPlate[] {
  const single = [
    ...joinRows(lines).map(({ characters }) => [{ characters, quad: quadOf(characters) }]),
    ...lines.map((line) => [line]),
  ];
  const candidates = [...single, ...stacksOf(lines)].flatMap((group) => candidateOf(group, lines, hint));
  const taken = new Set<PrintedCharacter>();
  const plates: FoundPlate[] = [];
  for (const { plate, glyphs } of candidates.toSorted((a, b) => a.cost - b.cost)) {
    if (glyphs.some(({ printed }) => taken.has(printed))) continue;
    for (const { printed } of glyphs) taken.add(printed);
    plates.push(plate);
  }
  return plates.toSorted((a, b) => areaOf(b) - areaOf(a));
}

/** A line or row of print. */
interface Piece {
  characters: readonly PrintedCharacter[];
  quad: Quad;
}

interface Candidate {
  plate: FoundPlate;
  glyphs: readonly Glyph[];
  /** Per character. */
  cost: number;
}

/** @param group a line, or lines below one another */
function candidateOf(group: readonly Piece[], lines: readonly PrintedLine[], hint: string | null): Candidate[] {
  const glyphs = glyphsOf(group);
  if (glyphs.length < SHORTEST || glyphs.length > LONGEST) return [];
  const fits = FORMATS.flatMap((format) => {
    const fit = fitFormat(glyphs, format);
    if (!fit || fit.cost > HIGHEST_COST) return [];
    return [{ ...fit, cost: fit.cost - (format.country === hint ? HINT : 0) }];
  });
  if (fits.length === 0) return [];
  const place = placeOf(group, fits[0] as Fit);
  const origin = originOf(place, fits[0]?.leading ?? [], lines);
  const shown = fits
    .filter(({ format }) => format.needs !== 'origin' || isOf(origin, format))
    .map((fit) => ({ ...fit, cost: fit.cost - (isOf(origin, fit.format) ? AS_GOOD : 0) }))
    .toSorted((a, b) => a.cost - b.cost);
  const [best] = shown;
  if (!best) return [];
  const quad = placeOf(group, best);
  if (!hasShapeOfPlate(group, best)) return [];
  const confidences = best.glyphs.map((glyph, index) => confidenceOf(glyph, best.text.charAt(index)));
  if (Math.min(...confidences) < LEAST_CONFIDENCE) return [];
  const alike = shown.filter(({ cost, text }) => cost <= best.cost + AS_GOOD && text === best.text);
  const { country, region } = provenance(alike, origin, hint, Math.min(...confidences));
  return [
    {
      plate: { text: best.text, confidences, quad, country, region },
      glyphs: best.glyphs,
      cost: best.cost / best.text.length,
    },
  ];
}

function isOf(origin: Origin | null, { country, region }: Fit['format']): boolean {
  return origin?.country === country && (!origin.region || !region || origin.region === region);
}

function provenance(
  fits: readonly Fit[],
  origin: Origin | null,
  hint: string | null,
  confidence: number,
): Pick<FoundPlate, 'country' | 'region'> {
  const countries = new Set(fits.map(({ format }) => format.country));
  if (origin && (countries.has(origin.country) || origin.region)) {
    const sure = origin.confidence;
    const own = fits.filter(({ format }) => format.country === origin.country);
    const region = origin.region
      ? { value: origin.region, confidence: sure }
      : regionOf(own, Math.min(confidence, sure));
    return { country: { value: origin.country, confidence: sure }, region };
  }
  const isHinted = countries.size > 1 && hint !== null && countries.has(hint);
  const [only] = isHinted ? [hint] : [...countries];
  if (only === undefined || (countries.size > 1 && !isHinted)) return { country: null, region: null };
  const share = isHinted ? BY_HINT : BY_FORMAT;
  const own = fits.filter(({ format }) => format.country === only);
  return { country: { value: only, confidence: confidence * share }, region: regionOf(own, confidence * share) };
}

/** The region, if all formats agree on it. */
function regionOf(fits: readonly Fit[], confidence: number): FoundPlate['region'] {
  const regions = new Set(
    fits.map(({ format, text }) => format.region ?? format.regionOf?.(text.slice(0, format.groups[0]?.length)) ?? null),
  );
  const [value] = regions;
  return regions.size === 1 && value ? { value, confidence } : null;
}

/** The whole line, if all of it is the number. */
function placeOf(group: readonly Piece[], { glyphs, leading }: Fit): Quad {
  const [first, last] = [group[0], group.at(-1)];
  if (first && last && group.length > 1) return [first.quad[0], first.quad[1], last.quad[2], last.quad[3]];
  const isWhole = leading.length === 0 && first?.characters.at(-1) === glyphs.at(-1)?.printed;
  return first && isWhole ? first.quad : quadOf(glyphs.map(({ printed }) => printed));
}

function hasShapeOfPlate(group: readonly Piece[], { glyphs }: Fit): boolean {
  return group.every(({ characters, quad }) => {
    const width = (distance(quad[0], quad[1]) + distance(quad[3], quad[2])) / 2;
    const height = (distance(quad[0], quad[3]) + distance(quad[1], quad[2])) / 2;
    const pitch = width / characters.length / height;
    return glyphs.length > 0 && pitch >= NARROWEST && pitch <= WIDEST;
  });
}

function areaOf({ quad }: FoundPlate): number {
  const { x0, y0, x1, y1 } = boxAround(quad);
  return (x1 - x0) * (y1 - y0);
}
