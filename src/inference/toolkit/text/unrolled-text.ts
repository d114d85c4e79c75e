/** Reads print along the rings of a wheel: unrolls them and reads the strips. */
import type { Size } from '../decoding/boxes.ts';
import { clampPoint, type Point } from '../decoding/detections.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { askewnessOf, type FoundRings, findRings, type Rings, type Tangent, toRings } from '../images/rings.ts';
import { type Band, type Unrolled, unroll } from '../images/unroll.ts';
import { joinRows, type PrintedRow } from './print-rows.ts';
import { distance, middle } from './straighten.ts';
import type { PrintedLine } from './text-lines.ts';

/**
 * Rows of print along the rings, with places in the picture. Empty for a picture without rings.
 * @param lines of print in the picture, as far as they were found
 * @param readText as `createTextReader` makes it
 */
export async function readAlongRings(
  picture: RgbImage,
  lines: readonly PrintedLine[],
  readText: (picture: RgbImage) => Promise<PrintedLine[]>,
): Promise<PrintedRow[]> {
  const tangents = lines.flatMap(tangentOf);
  const rings = findRings(picture, tangents);
  const band = rings && bandOf(rings, tangents, picture);
  if (!rings || !band) return [];
  const unrolled = unroll(picture, rings, band);
  const along = (await readText(unrolled.image)).filter((line) => isWhole(line, unrolled));
  // The strips also show the rings beyond the picture.
  return joinRows(along).map((row) => toPicture(row, (point) => clampPoint(unrolled.toPicture(point), picture)));
}

/** Shorter lines have no direction. Width ÷ height. */
const LEAST_PROPORTION = 1.5;

/** Of more weight the longer it is, and the surer its reading. */
function tangentOf({ quad: [a, b, c, d], characters }: PrintedLine): Tangent[] {
  const [left, right] = [middle(a, d), middle(b, c)];
  const [length, height] = [distance(left, right), distance(a, d)];
  if (length < LEAST_PROPORTION * height || length === 0) return [];
  const weight = characters.reduce((sum, { probability }) => sum + probability, 0);
  const [alongX, alongY] = [(right.x - left.x) / length, (right.y - left.y) / length];
  return [{ ...middle(left, right), alongX, alongY, length, weight }];
}

/** In radii of the strongest ring, which is the rim or the outer edge of the tire: the sidewall may lie on either side. */
const AROUND_RING = { inner: 0.55, outer: 1.75 };
/** In the smallest and the largest radius of print that follows the rings, because the sidewall has more print beside it. */
const AROUND_PRINT = { inner: 0.72, outer: 1.35 };
/** The sine of the angle between a line of print and its ring above which it does not follow it. */
const ASKEW = 0.3;
/** A radius belongs to the band if the picture shows at least this share of what it shows of the most visible one. */
const LEAST_SHOWN = 0.25;
const RADII = 60;
const ANGLES = 180;

/** The part of the rings that the picture shows and that may carry print; null if it shows none. */
function bandOf(rings: FoundRings, tangents: readonly Tangent[], size: Size): Band | null {
  const sought = soughtRadii(rings, tangents);
  const shown = shownAt(rings, sought, size);
  const most = Math.max(...shown.map(({ angles }) => angles.size));
  const visible = shown.filter(({ angles }) => angles.size > 0 && angles.size >= LEAST_SHOWN * most);
  const [first, last] = [visible[0], visible.at(-1)];
  if (!first || !last || first === last) return null;
  const angles = new Set(visible.flatMap((each) => [...each.angles]));
  return { inner: first.radius, outer: last.radius, ...turnOf(angles) };
}

/** Around the print that follows the rings, or else around the strongest ring. */
function soughtRadii(rings: FoundRings, tangents: readonly Tangent[]): Pick<Band, 'inner' | 'outer'> {
  const place = toRings(rings);
  const around = { inner: AROUND_RING.inner * rings.radius, outer: AROUND_RING.outer * rings.radius };
  const radii = tangents.filter((each) => askewnessOf(each, rings) < ASKEW).map((each) => place(each).radius);
  const within = radii.filter((radius) => radius >= around.inner && radius <= around.outer);
  const printed = within.length > 0 ? within : radii;
  if (printed.length === 0) return around;
  return { inner: AROUND_PRINT.inner * Math.min(...printed), outer: AROUND_PRINT.outer * Math.max(...printed) };
}

interface Shown {
  radius: number;
  /** Steps of angle at which the picture shows the ring. */
  angles: Set<number>;
}

function shownAt(rings: Rings, { inner, outer }: Pick<Band, 'inner' | 'outer'>, { width, height }: Size): Shown[] {
  const place = toRings(rings);
  const shown = Array.from({ length: RADII }, (_, index) => ({
    radius: inner + ((index + 0.5) * (outer - inner)) / RADII,
    angles: new Set<number>(),
  }));
  // Finer than the bins: a pixel in two to four hundred.
  const step = Math.max(1, Math.max(width, height) / 400);
  for (let y = step / 2; y < height; y += step) {
    for (let x = step / 2; x < width; x += step) {
      const { radius, angle } = place({ x, y });
      const bin = shown[Math.floor(((radius - inner) / (outer - inner)) * RADII)];
      bin?.angles.add(Math.floor(((angle + Math.PI) / (2 * Math.PI)) * ANGLES) % ANGLES);
    }
  }
  return shown;
}

/** From the end of the widest gap between these angles to its beginning; a whole turn from the bottom without a gap. */
function turnOf(angles: ReadonlySet<number>): Pick<Band, 'from' | 'to'> {
  const sorted = [...angles].toSorted((one, other) => one - other);
  const gaps = sorted.map((angle, index) => {
    const next = sorted[index + 1] ?? (sorted[0] as number) + ANGLES;
    return { next, gap: next - angle };
  });
  const [widest] = gaps.toSorted((one, other) => other.gap - one.gap);
  const radians = (step: number) => (step / ANGLES) * 2 * Math.PI - Math.PI;
  if (!widest || widest.gap <= 3) return { from: Math.PI / 2, to: Math.PI / 2 + 2 * Math.PI };
  return { from: radians(widest.next), to: radians(widest.next + ANGLES - widest.gap + 1) };
}

/** How close to the end of a strip print is cut off, in heights of the print. */
const CLOSE = 0.5;

/** Print that a strip's end cuts off is whole in the next strip, or is too long for either. */
function isWhole({ quad }: PrintedLine, { image, stripHeight, isCut }: Unrolled): boolean {
  const [xs, ys] = [quad.map(({ x }) => x), quad.map(({ y }) => y)];
  const near = CLOSE * (Math.max(...ys) - Math.min(...ys));
  const strip = Math.floor(ys.reduce((sum, y) => sum + y / 4, 0) / stripHeight);
  const [left, right] = [Math.min(...xs) <= near, Math.max(...xs) >= image.width - near];
  return !(left && isCut(strip, 'left')) && !(right && isCut(strip, 'right'));
}

function toPicture({ text, characters }: PrintedRow, place: (point: Point) => Point): PrintedRow {
  return {
    text,
    characters: characters.map((each) => {
      const [a, b, c, d] = each.quad;
      return { ...each, quad: [place(a), place(b), place(c), place(d)] };
    }),
  };
}
