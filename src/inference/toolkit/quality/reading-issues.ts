/**
 * What stands in the way of reading print, by its pixels: reasons of a closed list, the same for every reading endpoint. The
 * thresholds were chosen on photographs of plates, degraded step by step: docs/pictures.md states what they find.
 */
import type { READING_DEFECTS } from '../../../contracts/vocabulary/pictures.ts';
import { clamp, type Size } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { areaOf, type Quad } from '../decoding/rotated-boxes.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { growQuad } from '../text/straighten.ts';
import type { PrintedLine } from '../text/text-lines.ts';
import { measurePicture, measurePrint, type PrintMeasures } from './print-measures.ts';

type Defect = (typeof READING_DEFECTS)[number];

export interface ReadingIssue<Reason extends string = Defect> {
  reason: Reason;
  /** From 0 to 1; of a defect at least 0.5. */
  confidence: number;
}

/** Outlines have four corners in reading order, in pixels of the picture. */
export interface SeenPrint {
  /** Where the reading stands; empty if nothing was read. */
  read: readonly (readonly Point[])[];
  /** Every line of print that was found, whatever it says. */
  lines: readonly Pick<PrintedLine, 'quad' | 'characters'>[];
}

type MeasuredLine = PrintMeasures & { quad: Quad };

/** A measure at which about half of the readings fail, and one at which almost all do. */
interface Scale {
  half: number;
  all: number;
}

/** Width of edges, in heights of the line. */
const BLURRED_PRINT: Scale = { half: 0.09, all: 0.13 };
/** Width of edges where a picture is sharpest, in shares of its longer side. */
const BLURRED_PICTURE: Scale = { half: 0.0018, all: 0.0032 };
/** Pixels: narrower edges are as sharp as pixels allow. Print that looks blurred all the same is small. */
const NARROW_EDGE = 1.6;
/** Luma of the brightest twentieth, 0 to 255. */
const DARK: Scale = { half: 25, all: 8 };
/** Luma of the darkest twentieth, 0 to 255, and the share of a picture that must be white besides. */
const BRIGHT_PRINT: Scale = { half: 190, all: 235 };
const BRIGHT_PICTURE: Scale = { half: 90, all: 150 };
const WHITE_SHARE = 0.1;
/** A stretch of a line in which nothing but light is left, in heights of the line. Beside white ground it proves nothing. */
const WASHED_OUT: Scale = { half: 0.6, all: 1.2 };
const WHITE_GROUND = 240;
/** How far beyond its ends a line is searched for light, in its heights. */
const BESIDE = 1;
/** Height of a line in pixels. */
const SMALL_PRINT: Scale = { half: 12, all: 7 };
/** Longer side in pixels of a picture in which no print is found. */
const SMALL_PICTURE: Scale = { half: 480, all: 240 };
/** A picture with a longer side of more pixels has enough of them: its small print is far away. */
const AMPLE_PIXELS = 1000;
/** A line this close to an edge of the picture may continue beyond it: in pixels, and in heights of the line. */
const TOUCHING_PIXELS = 1;
const TOUCHING_HEIGHTS = 0.15;
/** Share of the lines that touch when a picture is cropped. Single ones may be cut without harm, or end there. */
const LEAST_CUT = 0.25;
const CUT = 0.7;
/** That a picture without a reading lacks what was to be read, if no defect hides it. */
const MISSING = 0.9;
/** Issues less likely than not are not stated. */
const LEAST_CONFIDENCE = 0.5;
/** No measure of pixels is ever surer. */
const MOST_CONFIDENCE = 0.95;
/** Lines measured per picture, largest first: more would tell nothing new. */
const MOST_LINES = 16;
/** Lines with fewer characters, or a lower mean probability, are often texture. */
const LEAST_CHARACTERS = 2;
const LEAST_PROBABILITY = 0.7;

/**
 * @param missing the reason for a reading without a value; null for a reading with one
 * @returns the most confident first. With `missing` never empty: its confidence falls with the defects that may hide it
 */
export function findReadingIssues<Missing extends string>(
  picture: RgbImage,
  print: SeenPrint,
  missing: Missing | null,
): ReadingIssue<Defect | Missing>[] {
  const defects = findDefects(picture, print);
  if (missing === null) return mostConfident(defects);
  const hidden = Math.max(0, ...defects.map(({ confidence }) => confidence));
  return mostConfident<Defect | Missing>([...defects, { reason: missing, confidence: MISSING * (1 - hidden) }]);
}

/** Each reason once, most confident first. */
export function mostConfident<Reason extends string>(issues: readonly ReadingIssue<Reason>[]): ReadingIssue<Reason>[] {
  const sorted = issues.toSorted((a, b) => b.confidence - a.confidence);
  return sorted.filter(({ reason }, place) => sorted.findIndex((other) => other.reason === reason) === place);
}

/** What was read speaks for itself. If nothing was, the print around it does, and the picture as a whole. */
function findDefects(picture: RgbImage, { read, lines }: SeenPrint): ReadingIssue[] {
  const outlines =
    read.length > 0 ? read.map((outline) => growQuad(outline, 0, 0)) : lines.filter(isPrint).map(({ quad }) => quad);
  const measured = outlines
    .toSorted((a, b) => areaOf(b) - areaOf(a))
    .slice(0, MOST_LINES)
    .map((quad) => ({ quad, ...measurePrint(picture, quad) }));
  const issues = [
    ...(measured.length > 0 ? defectsOfPrint(measured, picture) : []),
    {
      reason: 'cropped' as const,
      confidence: isCut(read.length > 0 ? measured : tallestOf(measured), picture) ? CUT : 0,
    },
    ...(read.length === 0 ? defectsOfPicture(picture, measured.length > 0) : []),
  ];
  return issues.filter(({ confidence }) => confidence >= LEAST_CONFIDENCE);
}

function isPrint({ characters }: SeenPrint['lines'][number]): boolean {
  const sum = characters.reduce((total, { probability }) => total + probability, 0);
  return characters.length >= LEAST_CHARACTERS && sum / characters.length >= LEAST_PROBABILITY;
}

/** @param lines at least one */
function defectsOfPrint(lines: readonly MeasuredLine[], picture: RgbImage): ReadingIssue[] {
  const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const blurs = lines.map(({ edgeWidth, height }) => on(BLURRED_PRINT, blurOf(edgeWidth) / height));
  const isAmple = Math.max(picture.width, picture.height) >= AMPLE_PIXELS;
  return [
    { reason: 'blurred', confidence: middle(blurs) },
    { reason: 'too_dark', confidence: on(DARK, middle(lines.map(({ light }) => light))) },
    { reason: 'overexposed', confidence: on(BRIGHT_PRINT, middle(lines.map(({ dark }) => dark))) },
    { reason: 'reflections', confidence: Math.max(...lines.map((line) => reflectionOn(line, picture))) },
    {
      reason: isAmple ? 'too_far' : 'low_resolution',
      confidence: on(SMALL_PRINT, middle(lines.map(({ height }) => height))),
    },
  ];
}

/** Print that was found tells the light and the resolution better, but the print to be read may be blurred beside it. */
function defectsOfPicture(picture: RgbImage, hasPrint: boolean): ReadingIssue[] {
  const { edgeWidth, light, dark, saturated } = measurePicture(picture);
  const side = Math.max(picture.width, picture.height);
  const blurred: ReadingIssue = { reason: 'blurred', confidence: on(BLURRED_PICTURE, blurOf(edgeWidth) / side) };
  if (hasPrint) return [blurred];
  return [
    blurred,
    { reason: 'too_dark', confidence: on(DARK, light) },
    { reason: 'overexposed', confidence: saturated < WHITE_SHARE ? 0 : on(BRIGHT_PICTURE, dark) },
    { reason: 'low_resolution', confidence: on(SMALL_PICTURE, side) },
  ];
}

/** In pixels; 0 for edges as sharp as pixels allow. */
function blurOf(edgeWidth: number | null): number {
  return edgeWidth === null || edgeWidth < NARROW_EDGE ? 0 : edgeWidth;
}

/** Light that covers a stretch of a line, or touches one of its ends. */
function reflectionOn({ quad, height, median: ground }: MeasuredLine, picture: RgbImage): number {
  const width = height === 0 ? 0 : areaOf(quad) / height;
  if (ground >= WHITE_GROUND || width === 0) return 0;
  return on(WASHED_OUT, measurePrint(picture, growQuad(quad, (BESIDE * height) / width, 0)).washedOut);
}

/** Without a reading, the tallest print is the likeliest part of one. Cameras write dates into corners. */
function tallestOf<Line extends PrintMeasures>(lines: readonly Line[]): Line[] {
  return lines.toSorted((a, b) => b.height - a.height).slice(0, 1);
}

function isCut(lines: readonly MeasuredLine[], { width, height }: Size): boolean {
  const touching = lines.filter((line) => {
    const near = Math.max(TOUCHING_PIXELS, TOUCHING_HEIGHTS * line.height);
    return line.quad.some(({ x, y }) => x <= near || y <= near || x >= width - near || y >= height - near);
  });
  return touching.length > 0 && touching.length >= LEAST_CUT * lines.length;
}

/** 0.5 where half of the readings fail. */
function on({ half, all }: Scale, measure: number): number {
  const towardsAll = (measure - half) / (all - half);
  return clamp(LEAST_CONFIDENCE + (MOST_CONFIDENCE - LEAST_CONFIDENCE) * towardsAll, 0, MOST_CONFIDENCE);
}
