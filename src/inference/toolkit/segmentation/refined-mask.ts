/**
 * The outline of a vehicle as its picture shows it. A network's grid has cells of many pixels; colours tell the rest: a cut where
 * the network is unsure, at a scale that bounds time and memory, and then the edges of the picture at its full resolution.
 */
import { type Box, expandBox, type Size } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { axisSteps } from '../decoding/interpolate.ts';
import { findRegions, outlineOf, type Region, simplifyOutline } from '../decoding/regions.ts';
import { type PixelBox, pixelsAround } from '../images/compose.ts';
import { resample } from '../images/resample.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { type Certainty, grabCut } from './grab-cut.ts';
import { boxMean, guidedFilter, type LinearMask, maskRow } from './guided-filter.ts';
import { fillOutline } from './outline-mattes.ts';
import type { SoftMask } from './soft-mask.ts';

/** Longest side of what is cut, in pixels. */
const CUT_PIXELS = 224;
/** Longest side of what is outlined, in pixels. */
const OUTLINE_PIXELS = 1024;
/** By how much of its size a vehicle's box may be too small. */
const MARGIN = 0.2;
/** Where the network is sure. Chosen on half of the outlines in `training/labels/outlines.json`. */
const CERTAINTY: Certainty = { inside: 0.95, outside: 0.03 };
/** In pixels of the cut: the windows of the guided filter, and how far an edge may be from the cut. */
const WINDOW = { radius: 3, evenness: 40 };
const EDGE_RADIUS = 2;
/** By how much soft edges are steepened: the filter blurs over its windows. */
const STEEPNESS = 1.6;

export interface RefinedMask {
  /** The part of the picture outside which nothing belongs to the vehicle. */
  region: PixelBox;
  /** Clockwise, in pixels of the picture. */
  outline: Point[];
  /** [height, width] of the picture: 255 for the vehicle, 0 for the rest, between them at soft edges. */
  makeMatte: () => Uint8Array;
}

/**
 * @param vehicle its box and outline as a network found them, in pixels of the picture
 * @param others outlines of other vehicles, which do not belong to it
 * @returns null where nothing is left of the vehicle: keep the network's outline then
 */
export function refineMask(
  picture: RgbImage,
  vehicle: { box: Box; outline: readonly Point[] },
  others: readonly (readonly Point[])[],
  softMask: SoftMask,
): RefinedMask | null {
  const { box, outline } = vehicle;
  const region = pixelsAround(expandBox(box, MARGIN, MARGIN, picture), picture);
  const size = scaledTo(region, CUT_PIXELS);
  const part = { x0: region.left, y0: region.top, x1: region.left + region.width, y1: region.top + region.height };
  const small = resample(picture, part, size.width, size.height);
  const toSmall = ({ x, y }: Point) => ({
    x: ((x - region.left) * size.width) / region.width,
    y: ((y - region.top) * size.height) / region.height,
  });
  const found = fillOutline(outline.map(toSmall), size);
  const probabilities = Float32Array.from(found, (_, pixel) =>
    softMask(
      region.left + (((pixel % size.width) + 0.5) * region.width) / size.width,
      region.top + ((Math.floor(pixel / size.width) + 0.5) * region.height) / size.height,
    ),
  );
  for (const other of others) {
    fillOutline(other.map(toSmall), size).forEach((inside, pixel) => {
      if (inside && !found[pixel]) probabilities[pixel] = 0;
    });
  }
  const cut = onlyLargest(grabCut(small, probabilities, CERTAINTY), size, found);
  if (!cut) return null;
  const linear = guidedFilter(small, cut, WINDOW);
  const near = boxMean(cut, size, EDGE_RADIUS);
  const traced = trace(picture, region, linear, near);
  return traced && { region, outline: traced, makeMatte: () => matteOf(picture, region, linear, near) };
}

function scaledTo({ width, height }: Size, longest: number): Size {
  const scale = Math.min(1, longest / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** The largest connected part within what was found, with its holes filled; null for none. */
function onlyLargest(mask: Uint8Array, { width, height }: Size, found: Uint8Array): Uint8Array | null {
  const classes = Int16Array.from(mask, (value) => (value ? 0 : -1));
  const shared = ({ pixels }: Region) => pixels.reduce((sum, pixel) => sum + (found[pixel] ? 1 : 0), 0);
  const [largest] = findRegions({ width, height, classes }, 4)
    .map((region) => ({ region, area: shared(region) }))
    .toSorted((a, b) => b.area - a.area);
  if (!largest || largest.area === 0) return null;
  return Uint8Array.from(fillOutline(outlineOf(largest.region, width), { width, height }), (value) => (value ? 1 : 0));
}

/** The opacity of each pixel of a row of the region, 0 to 255. */
type OpacityRow = (row: number) => Uint8Array;

function opacityRows(
  picture: RgbImage,
  { left, top }: Pick<PixelBox, 'left' | 'top'>,
  covered: Size,
  linear: LinearMask,
  near: Float32Array,
): OpacityRow {
  const [rows, columns] = [axisSteps(linear.height, covered.height), axisSteps(linear.width, covered.width)];
  const values = new Float32Array(covered.width);
  const opacities = new Uint8Array(covered.width);
  return (row) => {
    maskRow(linear, { pixels: picture.pixels, stride: picture.width, left, top, rows, columns, row }, values);
    const cellRow = Math.min(linear.height - 1, Math.floor(((row + 0.5) * linear.height) / covered.height));
    for (let x = 0; x < covered.width; x += 1) {
      const cell =
        cellRow * linear.width + Math.min(linear.width - 1, Math.floor(((x + 0.5) * linear.width) / covered.width));
      const share = near[cell] as number;
      const soft = Math.min(1, Math.max(0, ((values[x] as number) - 0.5) * STEEPNESS + 0.5));
      // Away from the cut's edge there is nothing to decide.
      opacities[x] = share < 1e-4 ? 0 : share > 1 - 1e-4 ? 255 : Math.round(soft * 255);
    }
    return opacities;
  };
}

function matteOf(picture: RgbImage, region: PixelBox, linear: LinearMask, near: Float32Array): Uint8Array {
  const matte = new Uint8Array(picture.width * picture.height);
  const opacityRow = opacityRows(picture, region, region, linear, near);
  for (let row = 0; row < region.height; row += 1) {
    matte.set(opacityRow(row), (region.top + row) * picture.width + region.left);
  }
  return matte;
}

/** Outlines what is more than half opaque. */
function trace(picture: RgbImage, region: PixelBox, linear: LinearMask, near: Float32Array): Point[] | null {
  const size = scaledTo(region, OUTLINE_PIXELS);
  const part = { x0: region.left, y0: region.top, x1: region.left + region.width, y1: region.top + region.height };
  const scaled = resample(picture, part, size.width, size.height);
  const opacityRow = opacityRows(scaled, { left: 0, top: 0 }, size, linear, near);
  const classes = new Int16Array(size.width * size.height);
  for (let row = 0; row < size.height; row += 1) {
    opacityRow(row).forEach((opacity, x) => {
      classes[row * size.width + x] = opacity >= 128 ? 0 : -1;
    });
  }
  const [largest] = findRegions({ ...size, classes }, 4).toSorted((a, b) => b.pixels.length - a.pixels.length);
  if (!largest) return null;
  const tolerance = 0.7;
  return simplifyOutline(outlineOf(largest, size.width), tolerance).map(({ x, y }) => ({
    x: region.left + (x * region.width) / size.width,
    y: region.top + (y * region.height) / size.height,
  }));
}
