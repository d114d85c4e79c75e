/** Edges of a picture for a mask that was made at a smaller scale. Source: He and Sun, "Fast Guided Filter", 2015. */
import type { Size } from '../decoding/boxes.ts';
import { type AxisSteps, interpolateAt, interpolateLine } from '../decoding/interpolate.ts';
import type { RgbImage } from '../images/rgb-image.ts';

/** A value as a linear function of a pixel's colours, which varies slowly over the picture. */
export interface LinearMask extends Size {
  /** [height, width] each: of red, green and blue (0 to 255), and a constant. */
  coefficients: readonly [Float32Array, Float32Array, Float32Array, Float32Array];
}

/**
 * @param guide the picture at the mask's scale
 * @param mask [height, width]
 * @param radius of the windows, in pixels
 * @param evenness variance of a colour, 0 to 255, below which a window counts as even
 */
export function guidedFilter(
  { width, height, pixels }: RgbImage,
  mask: ArrayLike<number>,
  { radius, evenness }: { radius: number; evenness: number },
): LinearMask {
  const size = { width, height };
  const mean = (value: (pixel: number) => number) => {
    const values = new Float32Array(width * height);
    for (let pixel = 0; pixel < values.length; pixel += 1) values[pixel] = value(pixel);
    return boxMean(values, size, radius);
  };
  const level = (channel: number) => (pixel: number) => pixels[pixel * 3 + channel] as number;
  const means = [0, 1, 2].map((channel) => mean(level(channel))) as Planes;
  const maskMean = mean((pixel) => mask[pixel] as number);
  const joint = [0, 1, 2].map((channel) => mean((pixel) => level(channel)(pixel) * (mask[pixel] as number))) as Planes;
  const products = [
    [0, 0],
    [0, 1],
    [0, 2],
    [1, 1],
    [1, 2],
    [2, 2],
  ].map(([one = 0, other = 0]) => mean((pixel) => level(one)(pixel) * level(other)(pixel)));
  const coefficients = [0, 1, 2, 3].map(() => new Float32Array(width * height)) as unknown as Float32Array[];
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [x, y, z] = means.map((plane) => plane[pixel] as number) as [number, number, number];
    const [xx, xy, xz, yy, yz, zz] = products.map((plane) => plane[pixel] as number) as Six;
    const share = maskMean[pixel] as number;
    const [p, q, r] = joint.map((plane, channel) => (plane[pixel] as number) - [x, y, z][channel]! * share) as Three;
    const [a, b, c, d, e, f] = [
      xx - x * x + evenness,
      xy - x * y,
      xz - x * z,
      yy - y * y + evenness,
      yz - y * z,
      zz - z * z + evenness,
    ] as const;
    const [m0, m1, m2, m3, m4, m5] = [
      d * f - e * e,
      c * e - b * f,
      b * e - c * d,
      a * f - c * c,
      b * c - a * e,
      a * d - b * b,
    ] as const;
    const determinant = a * m0 + b * m1 + c * m2;
    const slopes = [m0 * p + m1 * q + m2 * r, m1 * p + m3 * q + m4 * r, m2 * p + m4 * q + m5 * r].map(
      (each) => each / determinant,
    ) as Three;
    slopes.forEach((slope, channel) => {
      (coefficients[channel] as Float32Array)[pixel] = slope;
    });
    (coefficients[3] as Float32Array)[pixel] = share - slopes[0] * x - slopes[1] * y - slopes[2] * z;
  }
  const smooth = coefficients.map((plane) => boxMean(plane, size, radius));
  return { width, height, coefficients: smooth as unknown as LinearMask['coefficients'] };
}

type Planes = [Float32Array, Float32Array, Float32Array];
type Three = [number, number, number];
type Six = [number, number, number, number, number, number];

/**
 * @param rows and columns: from the pixels that the mask covers to its cells; `left` and `top` place them in the picture
 * @param row of what the mask covers, from 0 for its upper edge
 * @param values receives the mask's value at each pixel of the row
 */
export function maskRow(
  { width, coefficients }: LinearMask,
  {
    pixels,
    stride,
    left,
    top,
    rows,
    columns,
    row,
  }: {
    pixels: Uint8Array;
    stride: number;
    left: number;
    top: number;
    rows: AxisSteps;
    columns: AxisSteps;
    row: number;
  },
  values: Float32Array,
): void {
  const lines = coefficients.map((plane) => {
    const line = new Float64Array(width);
    interpolateLine(plane, { width, rows, y: row }, line);
    return line;
  });
  const [reds, greens, blues, rest] = lines as [Float64Array, Float64Array, Float64Array, Float64Array];
  for (let x = 0; x < values.length; x += 1) {
    const at = ((top + row) * stride + left + x) * 3;
    values[x] =
      interpolateAt(reds, columns, x) * (pixels[at] as number) +
      interpolateAt(greens, columns, x) * (pixels[at + 1] as number) +
      interpolateAt(blues, columns, x) * (pixels[at + 2] as number) +
      interpolateAt(rest, columns, x);
  }
}

/** The mean of each pixel's window, cut off at the edges. */
export function boxMean(values: ArrayLike<number>, { width, height }: Size, radius: number): Float32Array {
  const rows = new Float32Array(width * height);
  for (let y = 0; y < height; y += 1) slide(values, rows, { start: y * width, step: 1, length: width, radius });
  const means = new Float32Array(width * height);
  for (let x = 0; x < width; x += 1) slide(rows, means, { start: x, step: width, length: height, radius });
  return means;
}

function slide(
  from: ArrayLike<number>,
  to: Float32Array,
  { start, step, length, radius }: { start: number; step: number; length: number; radius: number },
): void {
  let [sum, count] = [0, 0];
  for (let index = -radius; index < length; index += 1) {
    if (index + radius < length) {
      sum += from[start + (index + radius) * step] as number;
      count += 1;
    }
    if (index - radius - 1 >= 0) {
      sum -= from[start + (index - radius - 1) * step] as number;
      count -= 1;
    }
    if (index >= 0) to[start + index * step] = sum / count;
  }
}
