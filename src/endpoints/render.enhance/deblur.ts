/** Undoes the blur of a picture out of focus: how wide it is follows from the picture's edges, and deconvolution narrows it. */
import { clamp } from '../../inference/toolkit/decoding/boxes.ts';
import { lumaOfPicture, type RgbImage } from '../../inference/toolkit/images/rgb-image.ts';

/** Standard deviation, in pixels, of the blur that is added to learn how much there is. */
const PROBE = 1;
/** Share of the pixels, those where the picture changes most, that are edges. */
const EDGES = 0.02;
/** Longest side of the middle of the picture that is looked at for edges. */
const LOOKED_AT = 1_024;
/** Rounds of the deconvolution at full strength. More of them sharpen noise and ring. */
const ROUNDS = 12;
/** Lumas below are noise to a quotient. */
const LEAST_LUMA = 1;

type Plane = Readonly<{ width: number; height: number; values: Float32Array }>;

/**
 * How wide the blur of the middle of a picture is, as the standard deviation of a Gaussian in pixels; null where nothing has edges.
 * An edge that is blurred once more loses the less, the wider it was. Source: Zhuo and Sim, "Defocus map estimation from a single
 * image", 2011.
 */
export function blurWidthOf(picture: RgbImage): number | null {
  const luma = middleOf(lumaPlane(picture));
  const [own, again] = [luma, blurred(luma, PROBE)].map(gradientsOf) as [Float32Array, Float32Array];
  const sorted = own.toSorted();
  const least = sorted[Math.floor((1 - EDGES) * (sorted.length - 1))] ?? 0;
  if (least < 4) return null;
  const ratios: number[] = [];
  for (const [pixel, slope] of own.entries()) if (slope >= least) ratios.push(slope / (again[pixel] as number));
  ratios.sort((one, other) => one - other);
  const ratio = ratios[Math.floor(ratios.length / 2)] ?? 0;
  return ratio > 1 ? PROBE / Math.sqrt(ratio ** 2 - 1) : Number.POSITIVE_INFINITY;
}

/**
 * Deconvolves the luma; colours keep their differences from it. Source: Richardson 1972, Lucy 1974.
 *
 * @param sigma standard deviation of the blur, in pixels
 * @param strength 0 to 1
 */
export function deconvolve(picture: RgbImage, sigma: number, strength: number): RgbImage {
  const seen = lumaPlane(picture);
  const estimate = { ...seen, values: Float32Array.from(seen.values) };
  for (let round = 0; round < Math.round(ROUNDS * strength); round += 1) {
    const { values } = blurred(estimate, sigma);
    for (let pixel = 0; pixel < values.length; pixel += 1) {
      values[pixel] = (seen.values[pixel] as number) / Math.max(LEAST_LUMA, values[pixel] as number);
    }
    const factors = blurred({ ...seen, values }, sigma).values;
    for (let pixel = 0; pixel < factors.length; pixel += 1) {
      estimate.values[pixel] = (estimate.values[pixel] as number) * (factors[pixel] as number);
    }
  }
  const pixels = new Uint8Array(picture.pixels.length);
  for (let index = 0; index < pixels.length; index += 1) {
    const pixel = Math.floor(index / 3);
    const more = (estimate.values[pixel] as number) - (seen.values[pixel] as number);
    pixels[index] = Math.round(clamp((picture.pixels[index] as number) + more, 0, 255));
  }
  return { width: picture.width, height: picture.height, pixels };
}

function lumaPlane(picture: RgbImage): Plane {
  return { width: picture.width, height: picture.height, values: lumaOfPicture(picture) };
}

function middleOf({ width, height, values }: Plane): Plane {
  const [across, down] = [Math.min(width, LOOKED_AT), Math.min(height, LOOKED_AT)];
  const [left, top] = [(width - across) >> 1, (height - down) >> 1];
  const middle = new Float32Array(across * down);
  for (let row = 0; row < down; row += 1) {
    const start = (top + row) * width + left;
    middle.set(values.subarray(start, start + across), row * across);
  }
  return { width: across, height: down, values: middle };
}

/** Length of the gradient at each pixel; 0 along the border. */
function gradientsOf({ width, height, values }: Plane): Float32Array {
  const gradients = new Float32Array(values.length);
  for (let y = 1; y < height - 1; y += 1) {
    for (let pixel = y * width + 1, end = (y + 1) * width - 1; pixel < end; pixel += 1) {
      const across = (values[pixel + 1] as number) - (values[pixel - 1] as number);
      const down = (values[pixel + width] as number) - (values[pixel - width] as number);
      gradients[pixel] = Math.hypot(across, down) / 2;
    }
  }
  return gradients;
}

/** Blurred by a Gaussian; the border repeats beyond the picture. */
function blurred({ width, height, values }: Plane, sigma: number): Plane {
  const weights = gaussian(sigma);
  const across = along(values, weights, { lines: height, lineStep: width, length: width, step: 1 });
  return { width, height, values: along(across, weights, { lines: width, lineStep: 1, length: height, step: width }) };
}

/** One half of a Gaussian, from its middle on; the whole sums to 1. */
function gaussian(sigma: number): Float64Array {
  const half = Float64Array.from({ length: Math.ceil(3 * sigma) + 1 }, (_, away) =>
    Math.exp(-(away ** 2) / (2 * sigma ** 2)),
  );
  const sum = 2 * half.reduce((total, weight) => total + weight, 0) - 1;
  return half.map((weight) => weight / sum);
}

function along(
  values: Float32Array,
  weights: Float64Array,
  { lines, lineStep, length, step }: { lines: number; lineStep: number; length: number; step: number },
): Float32Array {
  const reach = weights.length - 1;
  const made = new Float32Array(values.length);
  const line = new Float32Array(length + 2 * reach);
  for (let index = 0; index < lines; index += 1) {
    const start = index * lineStep;
    for (let place = 0; place < length; place += 1) line[place + reach] = values[start + place * step] as number;
    line.fill(line[reach] as number, 0, reach);
    line.fill(line[reach + length - 1] as number, reach + length);
    for (let place = 0; place < length; place += 1) {
      const at = place + reach;
      let sum = (weights[0] as number) * (line[at] as number);
      for (let away = 1; away <= reach; away += 1) {
        sum += (weights[away] as number) * ((line[at - away] as number) + (line[at + away] as number));
      }
      made[start + place * step] = sum;
    }
  }
  return made;
}
