/** Picture → frame. */
import type { Size } from '../../../inference/toolkit/decoding/boxes.ts';
import { plainPicture } from '../../../inference/toolkit/images/compose.ts';
import { resample } from '../../../inference/toolkit/images/resample.ts';
import type { RgbImage } from '../../../inference/toolkit/images/rgb-image.ts';
import { exposureTable, type Placing, sourceOf } from './frame-corrections.ts';

/** Level of what no picture shows. */
const SURROUNDINGS = 232;

/**
 * Where the frame is larger than the picture, the backdrop shows, or light grey: nothing is invented.
 * @param stops change of exposure
 * @param backdrop of the size of the frame
 */
export function drawFrame(
  picture: RgbImage,
  placing: Placing,
  { stops, frame, backdrop }: { stops: number; frame: Size; backdrop?: RgbImage },
): RgbImage {
  const shrink = Math.min(1, placing.scale);
  const [width, height] = [
    Math.max(1, Math.round(picture.width * shrink)),
    Math.max(1, Math.round(picture.height * shrink)),
  ];
  // Shrunk first, because the sampling below would skip pixels.
  const source = resample(picture, { x0: 0, y0: 0, x1: picture.width, y1: picture.height }, width, height);
  const [toSourceX, toSourceY] = [width / picture.width, height / picture.height];
  const table = exposureTable(stops);
  const pixels = backdrop
    ? Uint8Array.from(backdrop.pixels)
    : new Uint8Array(frame.width * frame.height * 3).fill(SURROUNDINGS);
  // The mapping is linear: three points tell it.
  const at = (x: number, y: number) => {
    const point = sourceOf({ x, y }, placing, frame);
    return { x: point.x * toSourceX - 0.5, y: point.y * toSourceY - 0.5 };
  };
  const origin = at(0.5, 0.5);
  const [right, down] = [at(1.5, 0.5), at(0.5, 1.5)];
  for (let row = 0; row < frame.height; row += 1) {
    for (let column = 0; column < frame.width; column += 1) {
      const x = origin.x + (right.x - origin.x) * column + (down.x - origin.x) * row;
      const y = origin.y + (right.y - origin.y) * column + (down.y - origin.y) * row;
      if (x < -0.5 || y < -0.5 || x > width - 0.5 || y > height - 0.5) continue;
      sample(source, x, y, table, pixels, (row * frame.width + column) * 3);
    }
  }
  return { ...frame, pixels };
}

/** A picture no larger than it is on its frame, and its place there. */
export function shrinkToFrame(picture: RgbImage, placing: Placing): { picture: RgbImage; placing: Placing } {
  const shrink = Math.min(1, placing.scale);
  const [width, height] = [
    Math.max(1, Math.round(picture.width * shrink)),
    Math.max(1, Math.round(picture.height * shrink)),
  ];
  const shrunk = ({ x, y }: Placing['foot']) => ({ x: x * shrink, y: y * shrink });
  return {
    picture: resample(picture, { x0: 0, y0: 0, x1: picture.width, y1: picture.height }, width, height),
    placing: {
      ...placing,
      scale: placing.scale / shrink,
      center: shrunk(placing.center),
      foot: shrunk(placing.foot),
    },
  };
}

/** The matte of a picture → of its frame, transparent beyond the picture. @param matte [height, width], 0 to 255 */
export function drawMatte(matte: Uint8Array, { width, height }: Size, placing: Placing, frame: Size): Uint8Array {
  const grey = {
    width,
    height,
    pixels: Uint8Array.from({ length: matte.length * 3 }, (_, at) => matte[Math.floor(at / 3)] ?? 0),
  };
  const { pixels } = drawFrame(grey, placing, { stops: 0, frame, backdrop: plainPicture(frame, '#000000') });
  return pixels.filter((_, at) => at % 3 === 0);
}

/** Bilinear, between the centres of pixels. */
function sample(source: RgbImage, x: number, y: number, table: Uint8Array, into: Uint8Array, at: number): void {
  const { width, height, pixels } = source;
  const left = Math.min(width - 1, Math.max(0, Math.floor(x)));
  const top = Math.min(height - 1, Math.max(0, Math.floor(y)));
  const shareX = Math.min(1, Math.max(0, x - left));
  const shareY = Math.min(1, Math.max(0, y - top));
  const here = (top * width + left) * 3;
  const across = left + 1 < width ? 3 : 0;
  const below = top + 1 < height ? width * 3 : 0;
  for (let channel = 0; channel < 3; channel += 1) {
    const place = here + channel;
    const upper = (pixels[place] as number) * (1 - shareX) + (pixels[place + across] as number) * shareX;
    const lower =
      (pixels[place + below] as number) * (1 - shareX) + (pixels[place + below + across] as number) * shareX;
    into[at + channel] = table[Math.round(upper * (1 - shareY) + lower * shareY)] as number;
  }
}

/** Pixels of the backdrop for one of its blocks: small enough that nothing in it is recognisable. */
const BLUR_PIXELS = 48;
/** The picture stands out from its blurred enlargement. */
const BACKDROP_STOPS = -0.7;

/** A blurred, darkened enlargement of the middle of a picture that fills the frame. */
export function drawBackdrop(picture: RgbImage, frame: Size): RgbImage {
  const scale = Math.max(frame.width / picture.width, frame.height / picture.height);
  const across = Math.min(picture.width, frame.width / scale);
  const down = Math.min(picture.height, frame.height / scale);
  const [left, top] = [(picture.width - across) / 2, (picture.height - down) / 2];
  const region = { x0: left, y0: top, x1: left + across, y1: top + down };
  const blocks = (side: number) => Math.max(2, Math.ceil(side / BLUR_PIXELS));
  const small = resample(picture, region, blocks(frame.width), blocks(frame.height));
  const table = exposureTable(BACKDROP_STOPS);
  const pixels = new Uint8Array(frame.width * frame.height * 3);
  for (let row = 0; row < frame.height; row += 1) {
    const y = ((row + 0.5) * small.height) / frame.height - 0.5;
    for (let column = 0; column < frame.width; column += 1) {
      const x = ((column + 0.5) * small.width) / frame.width - 0.5;
      sample(small, x, y, table, pixels, (row * frame.width + column) * 3);
    }
  }
  return { ...frame, pixels };
}
