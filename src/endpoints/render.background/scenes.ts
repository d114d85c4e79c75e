/** Paints the background scene and the ground shadow for the size and position of the vehicle. */
import type { SCENES } from '../../contracts/vocabulary/renders.ts';
import { type Box, clamp, type Size } from '../../inference/toolkit/decoding/boxes.ts';
import { levelsOf } from '../../inference/toolkit/images/compose.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';

type Scene = (typeof SCENES)[number];

interface Palette {
  /** Colours of the wall or sky, from the top of the picture down to the horizon. */
  wall: readonly [string, string];
  /** Colours of the ground, from the horizon to the bottom of the picture. */
  ground: readonly [string, string];
  /** Height of the transition between the two, as a fraction of the vehicle's height: a studio cove is soft. */
  cove: number;
}

const PALETTES: Readonly<Record<Scene, Palette>> = {
  studio_white: { wall: ['#f4f5f6', '#fdfdfd'], ground: ['#f7f7f8', '#e4e5e7'], cove: 0.5 },
  studio_gray: { wall: ['#9a9da1', '#c3c5c8'], ground: ['#b4b6ba', '#8b8e93'], cove: 0.5 },
  studio_dark: { wall: ['#17181b', '#34363b'], ground: ['#2a2c30', '#101113'], cove: 0.5 },
  showroom: { wall: ['#d9d4cb', '#efece6'], ground: ['#8e8a84', '#c2beb7'], cove: 0.04 },
  forecourt: { wall: ['#7fa8d6', '#dbe7f2'], ground: ['#8a8c8e', '#5f6163'], cove: 0.02 },
};

/** Distance of the horizon above the lower edge of the vehicle, as a fraction of its height. */
const HORIZON = 0.3;
/** Shadow dimensions as fractions of the vehicle's width (`reach` beyond it) and height. */
const SHADOW = { reach: 0.04, height: 0.09, darkness: 0.55 };

export function paintScene(scene: Scene, { width, height }: Size, vehicle: Box): RgbImage {
  const { wall, ground, cove } = PALETTES[scene];
  const tall = vehicle.y1 - vehicle.y0;
  const horizon = clamp(vehicle.y1 - HORIZON * tall, 1, height - 1);
  const half = Math.max(0.5, (cove * tall) / 2);
  const [wallTop, wallBottom, groundTop, groundBottom] = [...wall, ...ground].map(levelsOf) as [Rgb, Rgb, Rgb, Rgb];
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const above = mix(wallTop, wallBottom, clamp((y + 0.5) / horizon, 0, 1));
    const below = mix(groundTop, groundBottom, clamp((y + 0.5 - horizon) / (height - horizon), 0, 1));
    const share = clamp((y + 0.5 - horizon + half) / (2 * half), 0, 1);
    const line = mix(above, below, share * share * (3 - 2 * share)).map(Math.round);
    for (let x = 0; x < width; x += 1) pixels.set(line, (y * width + x) * 3);
  }
  return { width, height, pixels };
}

type Rgb = [number, number, number];

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  return [0, 1, 2].map((channel) => {
    const from = one[channel] as number;
    return from + ((other[channel] as number) - from) * share;
  }) as Rgb;
}

/** Darkens the ground below a vehicle softly. Call it before compositing the vehicle. */
export function paintShadow(picture: RgbImage, vehicle: Box): void {
  const [wide, tall] = [vehicle.x1 - vehicle.x0, vehicle.y1 - vehicle.y0];
  const middle = { x: (vehicle.x0 + vehicle.x1) / 2, y: vehicle.y1 - (SHADOW.height * tall) / 3 };
  const radius = { x: wide * (0.5 + SHADOW.reach), y: Math.max(1, SHADOW.height * tall) };
  const [top, bottom] = [Math.max(0, Math.floor(middle.y - radius.y)), Math.min(picture.height, middle.y + radius.y)];
  const [left, right] = [Math.max(0, Math.floor(middle.x - radius.x)), Math.min(picture.width, middle.x + radius.x)];
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const away = ((x + 0.5 - middle.x) / radius.x) ** 2 + ((y + 0.5 - middle.y) / radius.y) ** 2;
      if (away >= 1) continue;
      const light = 1 - SHADOW.darkness * (1 - away) ** 2;
      for (let index = (y * picture.width + x) * 3, end = index + 3; index < end; index += 1) {
        picture.pixels[index] = Math.round((picture.pixels[index] as number) * light);
      }
    }
  }
}
