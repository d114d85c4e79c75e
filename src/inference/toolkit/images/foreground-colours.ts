/**
 * Takes the old background's colour out of soft edges. Where a matte is half open the camera saw both, so a light edge would
 * stay around a car that is put before a dark wall.
 * Source: Forte, "Approximate Fast Foreground Colour Estimation", ICIP 2021 (blur fusion, two passes).
 */
import type { Size } from '../decoding/boxes.ts';
import { axisSteps, interpolateAt, interpolateLine } from '../decoding/interpolate.ts';
import { boxMean } from '../segmentation/guided-filter.ts';
import type { PixelBox } from './compose.ts';
import type { RgbImage } from './rgb-image.ts';

/** Longest side of the grid on which colours are estimated, in cells: it bounds time and memory. */
const GRID_CELLS = 512;
/** Radii of the windows of both passes, in cells: the first finds a colour anywhere, the second one nearby. */
const RADII = [24, 3] as const;
/** Keeps divisions finite where a window has nothing of the one or the other. */
const LEAST_WEIGHT = 1e-3;

type Colours = [Float32Array, Float32Array, Float32Array];

/**
 * Replaces the colours of half-transparent pixels by those of the subject alone; opaque ones stay. Changes `picture`.
 * @param matte opacity of each pixel of the picture, [height, width], 0 to 255
 * @param area outside which the matte is 0
 */
export function removeSpill(picture: RgbImage, matte: Uint8Array, area: PixelBox): void {
  const scale = Math.min(1, GRID_CELLS / Math.max(area.width, area.height));
  const size = {
    width: Math.max(1, Math.round(area.width * scale)),
    height: Math.max(1, Math.round(area.height * scale)),
  };
  const { opacity, colours } = cellMeans(picture, matte, area, size);
  const wide = estimate(colours, colours, opacity, size, RADII[0]);
  const near = estimate(
    colours.map((own, channel) => fused(own, opacity, wide.subject[channel] ?? own, wide.behind[channel] ?? own)),
    wide.behind,
    opacity,
    size,
    RADII[1],
  );
  repaint(picture, matte, area, size, near);
}

/** Means of the picture and of its opacity (0 to 1) over each cell. */
function cellMeans(picture: RgbImage, matte: Uint8Array, area: PixelBox, { width, height }: Size) {
  const cells = width * height;
  const counts = new Uint32Array(cells);
  const opacity = new Float32Array(cells);
  const colours: Colours = [new Float32Array(cells), new Float32Array(cells), new Float32Array(cells)];
  const [reds, greens, blues] = colours;
  const columns = Int32Array.from({ length: area.width }, (_, x) => Math.floor((x * width) / area.width));
  for (let y = 0; y < area.height; y += 1) {
    const row = Math.floor((y * height) / area.height) * width;
    const start = (area.top + y) * picture.width + area.left;
    for (let x = 0; x < area.width; x += 1) {
      const cell = row + (columns[x] as number);
      const from = (start + x) * 3;
      counts[cell] = (counts[cell] as number) + 1;
      opacity[cell] = (opacity[cell] as number) + (matte[start + x] as number);
      reds[cell] = (reds[cell] as number) + (picture.pixels[from] as number);
      greens[cell] = (greens[cell] as number) + (picture.pixels[from + 1] as number);
      blues[cell] = (blues[cell] as number) + (picture.pixels[from + 2] as number);
    }
  }
  for (let cell = 0; cell < cells; cell += 1) {
    const count = counts[cell] as number;
    opacity[cell] = (opacity[cell] as number) / (255 * count);
    for (const plane of colours) plane[cell] = (plane[cell] as number) / count;
  }
  return { opacity, colours };
}

/** Colours of the subject and of what is behind it, each as a mean of its surroundings by its own share. */
function estimate(
  subject: readonly Float32Array[],
  behind: readonly Float32Array[],
  opacity: Float32Array,
  size: Size,
  radius: number,
): { subject: Colours; behind: Colours } {
  const clear = opacity.map((share) => 1 - share);
  const [opaqueMean, clearMean] = [boxMean(opacity, size, radius), boxMean(clear, size, radius)];
  const mean = (plane: Float32Array, weights: Float32Array, weightMean: Float32Array) => {
    const weighted = boxMean(
      plane.map((level, cell) => level * (weights[cell] as number)),
      size,
      radius,
    );
    return weighted.map((sum, cell) => sum / Math.max(LEAST_WEIGHT, weightMean[cell] as number));
  };
  return {
    subject: subject.map((plane) => mean(plane, opacity, opaqueMean)) as Colours,
    behind: behind.map((plane) => mean(plane, clear, clearMean)) as Colours,
  };
}

function fused(own: Float32Array, opacity: Float32Array, subject: Float32Array, behind: Float32Array): Float32Array {
  return own.map((level, cell) =>
    fuse(level, opacity[cell] as number, subject[cell] as number, behind[cell] as number),
  );
}

/** The colour that, mixed with what is behind it, gives what the camera saw; 0 to 255. */
function fuse(seen: number, share: number, subject: number, behind: number): number {
  return Math.min(255, Math.max(0, subject + share * (seen - share * subject - (1 - share) * behind)));
}

function repaint(
  picture: RgbImage,
  matte: Uint8Array,
  area: PixelBox,
  size: Size,
  { subject, behind }: { subject: Colours; behind: Colours },
): void {
  const [rows, columns] = [axisSteps(size.height, area.height), axisSteps(size.width, area.width)];
  const planes = [...subject, ...behind];
  const lines = planes.map(() => new Float64Array(size.width));
  for (let y = 0; y < area.height; y += 1) {
    planes.forEach((plane, index) => {
      interpolateLine(plane, { width: size.width, rows, y }, lines[index] as Float64Array);
    });
    const start = (area.top + y) * picture.width + area.left;
    for (let x = 0; x < area.width; x += 1) {
      const opacity = matte[start + x] as number;
      if (opacity === 0 || opacity === 255) continue;
      for (let channel = 0; channel < 3; channel += 1) {
        const index = (start + x) * 3 + channel;
        const [own, other] = [lines[channel], lines[channel + 3]] as [Float64Array, Float64Array];
        const level = fuse(
          picture.pixels[index] as number,
          opacity / 255,
          interpolateAt(own, columns, x),
          interpolateAt(other, columns, x),
        );
        picture.pixels[index] = Math.round(level);
      }
    }
  }
}
