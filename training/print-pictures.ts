/**
 * Draws pictures of VINs with known text: behind windscreens, on door-jamb stickers and stamped into metal. Seen at an angle,
 * out of focus, noisy, with reflections, as JPEG. They are drawings, not photographs. Typefaces are those of the system (DejaVu,
 * Liberation).
 */
import sharp from 'sharp';
import { checkDigit, requiresCheckDigit } from '../src/endpoints/vin.read/check-digit.ts';
import type { Point } from '../src/inference/toolkit/decoding/detections.ts';
import type { Quad } from '../src/inference/toolkit/decoding/rotated-boxes.ts';
import { paintQuad, projection } from '../src/inference/toolkit/images/rectify.ts';
import type { RgbImage } from '../src/inference/toolkit/images/rgb-image.ts';

/** Uniform numbers from a seed, 0 to 1. */
export type Random = () => number;

/** Source: Tommy Ettinger, "mulberry32", 2017. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface DrawnPicture {
  jpeg: Buffer;
  /** The printed text. */
  vin: string | null;
  /** Box of each character of the VIN, in pixels of the picture. */
  places: Quad[];
}

export type VinKind = (typeof VIN_KINDS)[number];
export const VIN_KINDS = ['windscreen', 'door_jamb', 'stamping', 'without_vin'] as const;

const WIDTH = 1600;
const HEIGHT = 1200;
/** Standard deviation in pixels. */
const MOST_BLUR = 2.4;
export const SANS = ['DejaVu Sans', 'Liberation Sans', 'Liberation Sans Narrow', 'DejaVu Sans Condensed'];
const MONO = ['DejaVu Sans Mono', 'Liberation Mono'];

export const between = (random: Random, from: number, to: number) => from + (to - from) * random();
/** From the normal distribution with mean 0 and deviation 1 (Box and Muller 1958). */
export const normal = (random: Random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
export const oneOf = <Value>(random: Random, values: readonly Value[]) =>
  values[Math.floor(random() * values.length)] as Value;
export const some = (random: Random, count: number, alphabet: string) =>
  Array.from({ length: count }, () => oneOf(random, Array.from(alphabet))).join('');

/** A grey with a little colour. */
export function tint(random: Random, level: number): string {
  const channel = () => Math.round(Math.min(255, Math.max(0, level + between(random, -8, 8))));
  return `rgb(${channel()},${channel()},${channel()})`;
}

/** With the check digit that North America and China require. */
function randomVin(random: Random): string {
  const letters = 'ABCDEFGHJKLMNPRSTUVWXYZ0123456789';
  const vin = `${some(random, 13, letters)}${some(random, 4, '0123456789')}`;
  const { expected } = checkDigit(vin);
  return requiresCheckDigit(vin) ? `${vin.slice(0, 8)}${expected}${vin.slice(9)}` : vin;
}

interface Lettering {
  font: string;
  weight: string;
  size: number;
  /** From the middle of one character to the next. */
  pitch: number;
}

/** Centres each character in its cell, so their places are known. Characters that are not drawn have no place. */
function characters(text: string, x: number, baseline: number, { font, weight, size, pitch }: Lettering) {
  const drawn = Array.from(text, (character, index) => {
    const middle = x + (index + 0.5) * pitch;
    const escaped = character.replace('&', '&amp;').replace('<', '&lt;');
    return `<text x="${middle}" y="${baseline}" text-anchor="middle" font-family="${font}" font-weight="${weight}" font-size="${size}">${escaped}</text>`;
  }).join('');
  // The height of capitals is about 0.73 of the size.
  const cells = Array.from(text, (_, index) => ({
    x0: x + index * pitch,
    y0: baseline - 0.73 * size,
    x1: x + (index + 1) * pitch,
    y1: baseline,
  }));
  return { drawn, cells };
}

export const line = (text: string, x: number, y: number, size: number, font: string, weight = 'normal') =>
  `<text x="${x}" y="${y}" font-family="${font}" font-size="${size}" font-weight="${weight}">${text.replaceAll('&', '&amp;')}</text>`;

/** A flat object, before it is seen at an angle. */
export interface Plane {
  width: number;
  height: number;
  svg: string;
  vin: string | null;
  cells: { x0: number; y0: number; x1: number; y1: number }[];
  /** Strength of the reflections in front of it, 0 to 1. */
  reflection: number;
}

function windscreen(random: Random): Plane {
  const vin = randomVin(random);
  const isDark = random() < 0.6;
  const [ground, ink] = isDark
    ? [between(random, 15, 60), between(random, 150, 235)]
    : [between(random, 150, 215), between(random, 15, 70)];
  const font = oneOf(random, [...SANS, ...MONO]);
  const size = 100;
  const lettering = { font, weight: oneOf(random, ['normal', 'bold']), size, pitch: between(random, 72, 95) };
  const width = 17 * lettering.pitch + 160;
  const height = 240;
  const { drawn, cells } = characters(vin, 80, 155, lettering);
  const holes = [35, width - 35].map(
    (x) => `<circle cx="${x}" cy="120" r="16" fill="${tint(random, (ground + ink) / 2)}"/>`,
  );
  const svg = `<rect width="${width}" height="${height}" fill="${tint(random, ground)}"/>${holes.join('')}<g fill="${tint(random, ink)}">${drawn}</g>`;
  return { width, height, svg, vin, cells, reflection: between(random, 0.1, 0.8) };
}

function stamping(random: Random): Plane {
  const vin = randomVin(random);
  const ground = between(random, 60, 200);
  const star = oneOf(random, ['*', '', '']);
  const text = `${star}${vin}${star}`;
  const lettering = {
    font: oneOf(random, [...SANS, ...MONO]),
    weight: oneOf(random, ['normal', 'bold']),
    size: 100,
    pitch: between(random, 78, 115),
  };
  const width = text.length * lettering.pitch + 160;
  const height = 260;
  const { drawn, cells } = characters(text, 80, 165, lettering);
  // Stamped: a darker floor, with a bright lower edge and a dark upper one.
  const depth = between(random, 25, 70);
  const edge = between(random, 2, 4);
  const svg = `<rect width="${width}" height="${height}" fill="${tint(random, ground)}"/><g fill="${tint(random, ground + depth)}" transform="translate(${edge},${edge})">${drawn}</g><g fill="${tint(random, ground - depth)}">${drawn}</g>`;
  return {
    width,
    height,
    svg,
    vin,
    cells: cells.slice(star.length, star.length + 17),
    reflection: between(random, 0, 0.5),
  };
}

function doorJamb(random: Random, hasVin: boolean): Plane {
  const isDark = random() < 0.2;
  const [ground, ink] = isDark
    ? [between(random, 15, 50), between(random, 190, 240)]
    : [between(random, 195, 250), between(random, 5, 50)];
  const font = oneOf(random, SANS);
  const [width, margin, size] = [1500, 50, between(random, 44, 56)];
  const vin = hasVin ? randomVin(random) : null;
  const kilograms = () => Math.round(between(random, 900, 2600));
  const weight = (name: string) => {
    const kg = kilograms();
    return `${name} ${kg} KG (${Math.round(kg * 2.2046)} LB)`;
  };
  const month = String(Math.floor(between(random, 1, 13))).padStart(2, '0');
  const above = [
    `MFD BY ${oneOf(random, ['EXAMPLE MOTOR COMPANY', 'NORDVIK AUTOMOBILE AG', 'SAMPLE CAR CORPORATION'])}`,
    `DATE: ${month}/${Math.floor(between(random, 10, 26))}   ${weight('GVWR')}`,
    `${weight('GAWR FRT')}   TIRE 225/45R17`,
    `${weight('GAWR RR')}   RIM 17X7.5J`,
    'THIS VEHICLE CONFORMS TO ALL APPLICABLE U.S. FEDERAL MOTOR VEHICLE',
    'SAFETY STANDARDS IN EFFECT ON THE DATE OF MANUFACTURE SHOWN ABOVE.',
  ];
  const below = [
    `TYPE: ${oneOf(random, ['PASSENGER CAR', 'MPV', 'TRUCK'])}   PAINT: ${some(random, 3, 'ABCDEFGH0123456789')}   TRIM: ${some(random, 4, 'ABCDEFGH0123456789')}`,
  ];
  let y = 80;
  let svg = '';
  for (const text of above) {
    svg += line(text, margin, y, text.length > 60 ? size * 0.72 : size, font);
    y += size * 1.35;
  }
  let cells: Plane['cells'] = [];
  if (vin) {
    y += size * 0.4;
    const label = oneOf(random, ['VIN: ', 'VIN ', 'V.I.N.: ', '']);
    const large = size * between(random, 1, 1.5);
    const lettering = {
      font: oneOf(random, [...SANS, ...MONO]),
      weight: oneOf(random, ['normal', 'bold']),
      size: large,
      pitch: large * between(random, 0.68, 0.78),
    };
    svg += line(label, margin, y, large, font);
    const start = label === '' ? margin : margin + 20 + label.length * large * 0.62;
    const placed = characters(vin, start, y, lettering);
    svg += placed.drawn;
    cells = placed.cells;
    y += large * 1.3;
  }
  for (const text of below) {
    svg += line(text, margin, y, size, font);
    y += size * 1.35;
  }
  // A bar code.
  for (let x = margin; x < width - margin; x += 6 + Math.floor(random() * 8)) {
    svg += `<rect x="${x}" y="${y}" width="${2 + Math.floor(random() * 4)}" height="70"/>`;
  }
  const height = y + 110;
  return {
    width,
    height,
    svg: `<rect width="${width}" height="${height}" fill="${tint(random, ground)}"/><g fill="${tint(random, ink)}">${svg}</g>`,
    vin,
    cells,
    reflection: between(random, 0, 0.6),
  };
}

export function drawVin(kind: VinKind, random: Random): Promise<DrawnPicture> {
  if (kind === 'windscreen') return photograph(windscreen(random), random, between(random, 0.2, 0.75));
  if (kind === 'stamping') return photograph(stamping(random), random, between(random, 0.25, 0.85));
  return photograph(doorJamb(random, kind === 'door_jamb'), random, between(random, 0.45, 0.9));
}

/**
 * @param share of the picture's width that the plane takes up
 * @param mostBlur standard deviation in pixels of the greatest lack of focus
 */
export async function photograph(
  plane: Plane,
  random: Random,
  share: number,
  mostBlur = MOST_BLUR,
): Promise<DrawnPicture> {
  const corners = seenAtAnAngle(plane, random, share);
  const scale = Math.min(
    2,
    Math.max(0.2, Math.hypot(corners[1].x - corners[0].x, corners[1].y - corners[0].y) / plane.width),
  );
  const texture = await rasterize(plane, scale);
  const picture = await background(random);
  paintQuad(picture, corners, (u, v) => sample(texture, u, v));
  const blur = between(random, 0.3, mostBlur);
  const toPicture = projection(corners);
  // On the plane itself.
  const glare = Array.from({ length: 1 + Math.floor(random() * 2) }, () => ({
    ...toPicture(random(), random()),
    radius: between(random, 90, 420),
    strength: plane.reflection * between(random, 0.6, 1),
  }));
  const stops = glare.map(
    ({ strength }, index) =>
      `<radialGradient id="g${index}"><stop offset="0" stop-color="#fff" stop-opacity="${strength}"/><stop offset="1" stop-color="#fff" stop-opacity="0"/></radialGradient>`,
  );
  const lights = glare.map(
    ({ x, y, radius }, index) => `<circle cx="${x}" cy="${y}" r="${radius}" fill="url(#g${index})"/>`,
  );
  const overlay = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><defs>${stops.join('')}</defs>${lights.join('')}</svg>`,
  );
  const { pixels, width, height } = picture;
  const lit = await sharp(Buffer.from(pixels), { raw: { width, height, channels: 3 } })
    .composite([{ input: overlay }])
    .removeAlpha()
    .raw()
    .toBuffer();
  const soft = await sharp(lit, { raw: { width, height, channels: 3 } })
    .blur(blur)
    .raw()
    .toBuffer();
  const noise = between(random, 1, 14);
  for (let index = 0; index < soft.length; index += 3) {
    // The sum of three uniform numbers is nearly normal.
    const grain = (random() + random() + random() - 1.5) * 2 * noise;
    for (let channel = 0; channel < 3; channel += 1) {
      soft[index + channel] = Math.min(255, Math.max(0, (soft[index + channel] as number) + grain));
    }
  }
  const jpeg = await sharp(soft, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: Math.round(between(random, 45, 92)) })
    .toBuffer();
  const at = (x: number, y: number) => toPicture(x / plane.width, y / plane.height);
  const places = plane.cells.map(({ x0, y0, x1, y1 }): Quad => [at(x0, y0), at(x1, y0), at(x1, y1), at(x0, y1)]);
  return { jpeg, vin: plane.vin, places };
}

function seenAtAnAngle({ width, height }: Plane, random: Random, share: number): Quad {
  const [w, h] = [share * WIDTH, (share * WIDTH * height) / width];
  const fit = Math.min(1, (0.9 * HEIGHT) / h);
  const turn = between(random, -0.25, 0.25);
  const [cosine, sine] = [Math.cos(turn), Math.sin(turn)];
  const [roomX, roomY] = [Math.max(0, WIDTH - w * fit - 120), Math.max(0, HEIGHT - h * fit - 120)];
  const middle = {
    x: WIDTH / 2 + between(random, -0.5, 0.5) * roomX,
    y: HEIGHT / 2 + between(random, -0.5, 0.5) * roomY,
  };
  const flat = between(random, 0.6, 1);
  const nearer = between(random, -0.25, 0.25);
  const place = (u: number, v: number): Point => {
    // One side is nearer than the other, and the whole is foreshortened.
    const size = 1 + nearer * u;
    const [x, y] = [u * 0.5 * w * fit, v * 0.5 * h * fit * flat * size];
    return { x: middle.x + x * cosine - y * sine, y: middle.y + x * sine + y * cosine };
  };
  return [place(-1, -1), place(1, -1), place(1, 1), place(-1, 1)];
}

async function rasterize({ width, height, svg }: Plane, scale: number): Promise<RgbImage> {
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  const document = `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${width} ${height}">${svg}</svg>`;
  const { data, info } = await sharp(Buffer.from(document)).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, pixels: data };
}

/** Blotches of greys, smooth and large. */
async function background(random: Random): Promise<RgbImage> {
  const level = between(random, 30, 190);
  const blotches = Array.from({ length: 8 * 6 }, () => level + between(random, -45, 45));
  const coloured = blotches.flatMap((grey) => [0, 1, 2].map(() => grey + between(random, -12, 12)));
  const small = Buffer.from(coloured.map((value) => Math.min(255, Math.max(0, value))));
  const pixels = await sharp(small, { raw: { width: 8, height: 6, channels: 3 } })
    .resize(WIDTH, HEIGHT, { kernel: 'cubic', fit: 'fill' })
    .raw()
    .toBuffer();
  return { width: WIDTH, height: HEIGHT, pixels: new Uint8Array(pixels) };
}

function sample({ width, height, pixels }: RgbImage, u: number, v: number): number[] {
  const [x, y] = [
    Math.min(width - 1, Math.max(0, u * width - 0.5)),
    Math.min(height - 1, Math.max(0, v * height - 0.5)),
  ];
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, bottom] = [Math.min(width - 1, left + 1), Math.min(height - 1, top + 1)];
  const [dx, dy] = [x - left, y - top];
  return [0, 1, 2].map((channel) => {
    const at = (row: number, column: number) => pixels[(row * width + column) * 3 + channel] as number;
    return (
      (at(top, left) * (1 - dx) + at(top, right) * dx) * (1 - dy) +
      (at(bottom, left) * (1 - dx) + at(bottom, right) * dx) * dy
    );
  });
}
