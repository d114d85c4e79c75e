/**
 * The portrait and the signature of a licence's front: where the card differs from its paper and nothing is printed. Neither
 * is recognised: a drawing in the place of a face is a portrait, too.
 */
import { type Box, clamp, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { clampPoint, type Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { cornersOf } from '../../inference/toolkit/text/page-layout.ts';
import type { Page, Piece } from './page.ts';
import type { Result } from './result.ts';

type Picture = NonNullable<Result['portrait']>;

export interface FoundPictures {
  portrait: Picture | null;
  signature: Picture | null;
}

/** Cells along the card, for the portrait and for the strokes of a signature. */
const COARSE = 72;
const FINE = 360;
/** Levels of red, green and blue by which a cell differs from the paper at least, however even the paper is. */
const LEAST_DIFFERENCE = 22;
/** How many times the usual difference of paper that is not even. */
const UNUSUAL = 2;
/** What a cell of a portrait must differ on average to be worth including. */
const WORTH = 0.45;
/** Covered by print that belongs to no portrait. */
const PRINTED = -2;
/** Shares of the card's print, and height by width. 35 × 45 mm is usual; prints show less shoulder or more. */
const PORTRAIT = { leastWidth: 0.12, mostWidth: 0.42, leastHeight: 0.3, mostHeight: 0.9, lowest: 1, highest: 1.75 };
const LEAST_FILLED = 0.6;

/** Share of a signature's box that is ink, and proportions of the box. */
const INK = { least: 0.02, most: 0.5 };
const SIGNATURE = { leastWidth: 0.06, mostHeight: 0.2, leastProportion: 1.2 };
/** In heights of a line of print: lower marks are rules. */
const LOWEST_SIGNATURE = 0.5;
/** Levels by which ink is darker than what surrounds it. */
const DARKER = 40;

/** @param picture that the page was read from */
export function findPictures(picture: RgbImage, page: Page): FoundPictures {
  const box = printedBox(page);
  if (!box) return { portrait: null, signature: null };
  const cell = (box.x1 - box.x0) / COARSE;
  const area = { x0: box.x0 - cell, y0: box.y0 - cell, x1: box.x1 + cell, y1: box.y1 + cell };
  const portrait = findPortrait(gridOf(picture, page, area, cell), page);
  const signature = findSignature(picture, page, area, portrait?.box ?? null);
  const toPicture = (found: { box: Box; confidence: number } | null): Picture | null =>
    found && {
      confidence: found.confidence,
      image_index: page.imageIndex,
      bbox: toBoundingBox(
        boxAround(cornersOf(found.box).map((corner) => clampPoint(page.layout.toPicture(corner), picture))),
      ),
    };
  return { portrait: toPicture(portrait), signature: toPicture(signature) };
}

interface Grid {
  /** In coordinates of the page. */
  area: Box;
  cell: number;
  columns: number;
  rows: number;
  /** Mean red, green and blue of each cell; NaN outside the picture. [rows, columns, 3] */
  colors: Float32Array;
}

const SAMPLES = 3;

function gridOf({ width, height, pixels }: RgbImage, { layout }: Page, area: Box, cell: number): Grid {
  const columns = Math.max(1, Math.ceil((area.x1 - area.x0) / cell));
  const rows = Math.max(1, Math.ceil((area.y1 - area.y0) / cell));
  const colors = new Float32Array(columns * rows * 3).fill(Number.NaN);
  const side = cell > 1 ? SAMPLES : 1;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      let [red, green, blue, count] = [0, 0, 0, 0];
      for (let part = 0; part < side * side; part += 1) {
        const x = area.x0 + (column + ((part % side) + 0.5) / side) * cell;
        const y = area.y0 + (row + (Math.floor(part / side) + 0.5) / side) * cell;
        const at = layout.toPicture({ x, y });
        const [px, py] = [Math.floor(at.x), Math.floor(at.y)];
        if (px < 0 || py < 0 || px >= width || py >= height) continue;
        const pixel = (py * width + px) * 3;
        count += 1;
        red += pixels[pixel] as number;
        green += pixels[pixel + 1] as number;
        blue += pixels[pixel + 2] as number;
      }
      if (count === 0) continue;
      const at = (row * columns + column) * 3;
      colors[at] = red / count;
      colors[at + 1] = green / count;
      colors[at + 2] = blue / count;
    }
  }
  return { area, cell, columns, rows, colors };
}

/** The rectangle that differs most from the paper in all. */
function findPortrait(grid: Grid, page: Page): { box: Box; confidence: number } | null {
  const { area, cell, columns, rows } = grid;
  const differences = differencesOf(grid);
  const gains = differences.map((difference) => difference - WORTH);
  for (const { box } of page.pieces) forCells(grid, box, (index) => (gains[index] = PRINTED));
  const [gain, filled] = [summed(gains, columns, rows), summed(differences, columns, rows)];
  const [wide, high] = [columns, rows];
  let best: { columns: [number, number]; rows: [number, number]; sum: number } | null = null;
  for (let left = 0; left < columns; left += 1) {
    const mostRight = Math.min(columns, left + Math.floor(PORTRAIT.mostWidth * wide));
    for (let right = left + Math.ceil(PORTRAIT.leastWidth * wide); right <= mostRight; right += 1) {
      const width = right - left;
      const least = Math.ceil(Math.max(PORTRAIT.leastHeight * high, PORTRAIT.lowest * width));
      const most = Math.floor(Math.min(PORTRAIT.mostHeight * high, PORTRAIT.highest * width));
      for (let top = 0; top + least <= rows; top += 1) {
        for (let bottom = top + least; bottom <= Math.min(rows, top + most); bottom += 1) {
          const sum = gain(left, top, right, bottom);
          if (sum > (best?.sum ?? 0)) best = { columns: [left, right], rows: [top, bottom], sum };
        }
      }
    }
  }
  if (!best) return null;
  const [[left, right], [top, bottom]] = [best.columns, best.rows];
  const share = filled(left, top, right, bottom) / ((right - left) * (bottom - top));
  if (share < LEAST_FILLED) return null;
  const box = {
    x0: area.x0 + left * cell,
    y0: area.y0 + top * cell,
    x1: area.x0 + right * cell,
    y1: area.y0 + bottom * cell,
  };
  return { box, confidence: share };
}

/** How much each cell differs from the paper, 0 to 1. */
function differencesOf({ colors, columns, rows }: Grid): Float32Array {
  const channel = (offset: number) => median(colors.filter((_, index) => index % 3 === offset));
  const paper = [channel(0), channel(1), channel(2)];
  const distances = new Float32Array(columns * rows).map((_, index) =>
    Math.hypot(...paper.map((level, offset) => (colors[index * 3 + offset] as number) - level)),
  );
  const scale = Math.max(LEAST_DIFFERENCE, UNUSUAL * median(distances));
  return distances.map((distance) => (Number.isNaN(distance) ? 0 : clamp(distance / scale, 0, 1)));
}

function median(values: Float32Array): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted();
  return sorted[sorted.length >> 1] ?? 0;
}

/** Sums of rectangles of a grid, right and bottom excluded. */
function summed(values: Float32Array, columns: number, rows: number) {
  const sums = new Float64Array((columns + 1) * (rows + 1));
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const at = (row + 1) * (columns + 1) + column + 1;
      sums[at] =
        (values[row * columns + column] as number) +
        (sums[at - 1] as number) +
        (sums[at - columns - 1] as number) -
        (sums[at - columns - 2] as number);
    }
  }
  const upTo = (column: number, row: number) => sums[row * (columns + 1) + column] as number;
  return (left: number, top: number, right: number, bottom: number) =>
    upTo(right, bottom) - upTo(left, bottom) - upTo(right, top) + upTo(left, top);
}

function forCells({ area, cell, columns, rows }: Grid, box: Box, visit: (index: number) => void): void {
  const bound = (value: number, most: number) => clamp(Math.round(value / cell), 0, most);
  const [left, right] = [bound(box.x0 - area.x0, columns), bound(box.x1 - area.x0, columns)];
  const [top, bottom] = [bound(box.y0 - area.y0, rows), bound(box.y1 - area.y0, rows)];
  for (let row = top; row < bottom; row += 1) {
    for (let column = left; column < right; column += 1) visit(row * columns + column);
  }
}

/** The number of the field for the signature. Directive 2006/126/EC, annex I. */
const SIGNATURE_NUMBER = /^7\s?[.,]?(?=\s|$)/;
/** A line with its number is no signature. */
const LABELLED = /^\d|:|^[A-Z\d<]{20,}$/;

/** Strokes beside the number 7, or under the portrait. */
function findSignature(
  picture: RgbImage,
  page: Page,
  area: Box,
  portrait: Box | null,
): { box: Box; confidence: number } | null {
  const [wide, high] = [area.x1 - area.x0, area.y1 - area.y0];
  const zones: Box[] = [];
  const number = page.pieces.find(({ text }) => SIGNATURE_NUMBER.test(text));
  if (number) {
    const height = number.box.y1 - number.box.y0;
    const y = (number.box.y0 + number.box.y1) / 2;
    const x0 = number.box.x0 + 1.2 * height;
    zones.push({ x0, y0: y - 1.4 * height, x1: x0 + 0.4 * wide, y1: y + 1.6 * height });
  }
  if (portrait) {
    const width = portrait.x1 - portrait.x0;
    const y1 = Math.min(area.y1, portrait.y1 + SIGNATURE.mostHeight * high);
    zones.push({ x0: portrait.x0 - 0.15 * width, y0: portrait.y1, x1: portrait.x1 + 0.25 * width, y1 });
  }
  for (const zone of zones) {
    const grid = gridOf(picture, page, zone, wide / FINE);
    const others = page.pieces.filter(
      (piece) => piece !== number && LABELLED.test(piece.text) && !isSignature(piece, zone),
    );
    const box = inkIn(grid, others);
    if (!box || box.x1 - box.x0 < SIGNATURE.leastWidth * wide) continue;
    if (box.y1 - box.y0 < LOWEST_SIGNATURE * page.layout.height) continue;
    const share = box.share;
    if (share >= INK.least && share <= INK.most) return { box, confidence: 0.5 + 0.4 * Math.min(1, share / 0.1) };
  }
  return null;
}

/** Handwriting may be read as a line. */
function isSignature({ text, box }: Piece, zone: Box): boolean {
  return !/\d/.test(text) && box.x0 >= zone.x0 && box.x1 <= zone.x1;
}

function inkIn(grid: Grid, others: readonly Piece[]): (Box & { share: number }) | null {
  const { area, cell, columns, rows, colors } = grid;
  const luma = new Float32Array(columns * rows).map(
    (_, index) =>
      0.3 * (colors[index * 3] as number) +
      0.59 * (colors[index * 3 + 1] as number) +
      0.11 * (colors[index * 3 + 2] as number),
  );
  const paper = median(luma);
  const ink = luma.map((level) => (paper - level > DARKER ? 1 : 0));
  for (const { box } of others) forCells(grid, grown(box), (index) => (ink[index] = 0));
  const points: Point[] = [];
  ink.forEach((value, index) => {
    if (value === 1) points.push({ x: index % columns, y: Math.floor(index / columns) });
  });
  if (points.length === 0) return null;
  // A few marks at the edges of the zone are of something else.
  const between = (values: number[]) => {
    const sorted = values.toSorted((a, b) => a - b);
    const cut = Math.floor(0.01 * sorted.length);
    return [sorted[cut] ?? 0, (sorted[sorted.length - 1 - cut] ?? 0) + 1] as const;
  };
  const [[left, right], [top, bottom]] = [between(points.map(({ x }) => x)), between(points.map(({ y }) => y))];
  const box = {
    x0: area.x0 + left * cell,
    y0: area.y0 + top * cell,
    x1: area.x0 + right * cell,
    y1: area.y0 + bottom * cell,
  };
  if ((right - left) / (bottom - top) < SIGNATURE.leastProportion) return null;
  return { ...box, share: points.length / ((right - left) * (bottom - top)) };
}

/** Print reaches beyond the line that was read. */
function grown({ x0, y0, x1, y1 }: Box): Box {
  const margin = 0.3 * (y1 - y0);
  return { x0: x0 - 3 * margin, y0: y0 - margin, x1: x1 + margin, y1: y1 + margin };
}

function printedBox({ pieces }: Page): Box | null {
  return pieces.length === 0 ? null : boxAround(pieces.flatMap(({ box }) => cornersOf(box)));
}
