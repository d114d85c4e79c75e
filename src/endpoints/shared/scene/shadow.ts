/** Shadow and reflection that join a vehicle to its new ground. Paint them before the vehicle is put over. */
import { clamp } from '../../../inference/toolkit/decoding/boxes.ts';
import { axisSteps, interpolateAt, interpolateLine } from '../../../inference/toolkit/decoding/interpolate.ts';
import type { PixelBox } from '../../../inference/toolkit/images/compose.ts';
import type { RgbImage } from '../../../inference/toolkit/images/rgb-image.ts';
import { boxMean } from '../../../inference/toolkit/segmentation/guided-filter.ts';
import { CAMERA_METRES, type Ground } from './ground.ts';

/** Cells per metre of the ground on which shadows are drawn; fewer for a vehicle that would need more than `GRID_CELLS`. */
const CELLS_PER_METRE = 20;
const GRID_CELLS = 400;
/** What a vehicle covers from its near edge backwards, and how far its shadow reaches, in metres. */
const DEPTH_METRES = 0.9;
const REACH_METRES = 0.9;
/** A tire's footprint, in metres. */
const CONTACT_METRES = { half: 0.13, depth: 0.14 };
/** Light that the vehicle keeps off: the sky at large, what is right beneath it, and tires. Radii of blur in metres. */
const LAYERS = {
  sky: { darkness: 0.5, blurMetres: 0.26 },
  beneath: { darkness: 0.55, blurMetres: 0.08 },
  contact: { darkness: 0.75, blurMetres: 0.035 },
};

/** Darkens the ground under a vehicle: deepest where tires touch it, softer away from them. */
export function paintShadow(picture: RgbImage, ground: Ground): void {
  const { left, line, standing, metrePixels, distanceMetres } = ground;
  // A metre of ground away from the camera is this many rows.
  const depthPixels = Math.max(1, (metrePixels * CAMERA_METRES) / distanceMetres);
  const [highest, lowest] = [Math.min(...line), Math.max(...line)];
  const covered = {
    x0: left - REACH_METRES * metrePixels,
    x1: left + line.length + REACH_METRES * metrePixels,
    y0: highest - (DEPTH_METRES + REACH_METRES) * depthPixels,
    y1: lowest + REACH_METRES * depthPixels,
  };
  const metres = {
    width: (covered.x1 - covered.x0) / metrePixels,
    height: (covered.y1 - covered.y0) / depthPixels,
  };
  const perMetre = Math.min(CELLS_PER_METRE, GRID_CELLS / Math.max(metres.width, metres.height));
  const size = {
    width: Math.max(2, Math.round(metres.width * perMetre)),
    height: Math.max(2, Math.round(metres.height * perMetre)),
  };
  const at = (column: number, row: number) => ({
    x: covered.x0 + ((column + 0.5) * (covered.x1 - covered.x0)) / size.width,
    y: covered.y0 + ((row + 0.5) * (covered.y1 - covered.y0)) / size.height,
  });
  const layer = (covers: (x: number, y: number) => boolean, { blurMetres }: { blurMetres: number }) => {
    const mask = new Float32Array(size.width * size.height);
    for (let row = 0; row < size.height; row += 1) {
      for (let column = 0; column < size.width; column += 1) {
        const { x, y } = at(column, row);
        if (covers(x, y)) mask[row * size.width + column] = 1;
      }
    }
    const radius = Math.max(1, Math.round(blurMetres * perMetre));
    // Three means are nearly a Gaussian.
    return boxMean(boxMean(boxMean(mask, size, radius), size, radius), size, radius);
  };
  const isBeneath = (x: number, y: number) => {
    const column = Math.floor(x - left);
    if (column < standing.from || column >= standing.to) return false;
    const row = line[column] as number;
    return y <= row && y >= row - DEPTH_METRES * depthPixels;
  };
  const isContact = (x: number, y: number) =>
    ground.contacts.some((contact) => {
      const across = (x - contact.x) / (CONTACT_METRES.half * metrePixels);
      const along = (contact.y - y) / (CONTACT_METRES.depth * depthPixels);
      return Math.abs(across) <= 1 && along >= -0.6 && along <= 1;
    });
  const sky = layer(isBeneath, LAYERS.sky);
  const beneath = layer(isBeneath, LAYERS.beneath);
  const contact = layer(isContact, LAYERS.contact);
  const light = sky.map(
    (share, cell) =>
      (1 - LAYERS.sky.darkness * share) *
      (1 - LAYERS.beneath.darkness * (beneath[cell] as number)) *
      (1 - LAYERS.contact.darkness * (contact[cell] as number)),
  );
  const area = {
    left: Math.round(covered.x0),
    top: Math.round(covered.y0),
    width: Math.max(1, Math.round(covered.x1 - covered.x0)),
    height: Math.max(1, Math.round(covered.y1 - covered.y0)),
  };
  multiply(picture, light, size, area);
}

/** @param area of the picture that the light covers; it may reach beyond the picture */
function multiply(
  { width, height, pixels }: RgbImage,
  light: Float32Array,
  size: { width: number; height: number },
  area: PixelBox,
): void {
  const [rows, columns] = [axisSteps(size.height, area.height), axisSteps(size.width, area.width)];
  const values = new Float64Array(size.width);
  const [first, end] = [Math.max(0, area.left), Math.min(width, area.left + area.width)];
  for (let y = Math.max(0, area.top); y < Math.min(height, area.top + area.height); y += 1) {
    interpolateLine(light, { width: size.width, rows, y: y - area.top }, values);
    for (let x = first; x < end; x += 1) {
      const share = interpolateAt(values, columns, x - area.left);
      const index = (y * width + x) * 3;
      pixels[index] = Math.round((pixels[index] as number) * share);
      pixels[index + 1] = Math.round((pixels[index + 1] as number) * share);
      pixels[index + 2] = Math.round((pixels[index + 2] as number) * share);
    }
  }
}

/** Height up to which a polished floor shows the vehicle, in metres: the reflection fades until there. */
const REFLECTED_METRES = 0.75;
/** Side of the squares over which a reflection is blurred, in metres: no floor is a mirror. */
const ROUGHNESS_METRES = 0.02;

/**
 * Mirrors a vehicle in a polished floor, column by column at its ground line.
 * @param gloss how much the floor reflects at the ground line, 0 to 1
 */
export function paintReflection(
  background: RgbImage,
  picture: RgbImage,
  matte: Uint8Array,
  { left, line, metrePixels }: Ground,
  gloss: number,
): void {
  const { width, height } = picture;
  const reach = REFLECTED_METRES * metrePixels;
  const rough = Math.max(1, Math.round(ROUGHNESS_METRES * metrePixels));
  for (let column = 0; column < line.length; column += 1) {
    const x = left + column;
    const row = line[column] as number;
    for (let y = Math.ceil(row); y < Math.min(height, row + reach); y += 1) {
      const seen = meanAround(picture, matte, x, Math.round(2 * row - y) - 1, rough);
      if (!seen) continue;
      const fade = clamp(1 - (y - row) / reach, 0, 1);
      const share = gloss * fade * fade * seen.opacity;
      for (let channel = 0; channel < 3; channel += 1) {
        const index = (y * width + x) * 3 + channel;
        const own = background.pixels[index] as number;
        background.pixels[index] = Math.round(own + ((seen.colour[channel] as number) - own) * share);
      }
    }
  }
}

/** The mean colour and opacity of a few pixels around one; null where nothing is opaque. */
function meanAround({ width, height, pixels }: RgbImage, matte: Uint8Array, x: number, y: number, rough: number) {
  const step = Math.max(1, Math.ceil(rough / 2));
  let [red, green, blue, weight, count] = [0, 0, 0, 0, 0];
  for (let row = y - rough; row <= y + rough; row += step) {
    for (let column = x - rough; column <= x + rough; column += step) {
      count += 1;
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      const pixel = row * width + column;
      const opacity = matte[pixel] as number;
      weight += opacity;
      red += opacity * (pixels[pixel * 3] as number);
      green += opacity * (pixels[pixel * 3 + 1] as number);
      blue += opacity * (pixels[pixel * 3 + 2] as number);
    }
  }
  return weight === 0
    ? null
    : { colour: [red / weight, green / weight, blue / weight], opacity: weight / (255 * count) };
}
