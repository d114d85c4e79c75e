/**
 * Draws the scenes, at the picture's own size and in the perspective of its vehicle: the floor recedes to the horizon of the
 * photograph, and the wall stands behind the vehicle.
 */
import type { SCENES } from '../../../contracts/vocabulary/renders.ts';
import { clamp, type Size } from '../../../inference/toolkit/decoding/boxes.ts';
import { levelsOf } from '../../../inference/toolkit/images/compose.ts';
import type { RgbImage } from '../../../inference/toolkit/images/rgb-image.ts';
import { CAMERA_METRES, type Ground } from './ground.ts';

export type Scene = (typeof SCENES)[number];
type Rgb = readonly [number, number, number];

interface Look {
  /** Colours of the wall or sky, from the top of the picture down to its foot. */
  wall: readonly [string, string];
  /** Colours of the ground, from the foot of the wall to the bottom of the picture. */
  ground: readonly [string, string];
  /** Height of the curve from floor to wall, in metres; 0 for an edge. */
  coveMetres: number;
  /** Share of light lost at the sides of the picture. */
  vignette: number;
  /** How much the floor reflects, 0 to 1. */
  gloss: number;
  pattern: 'plain' | 'tiles' | 'asphalt';
}

const LOOKS: Readonly<Record<Scene, Look>> = {
  studio_white: {
    wall: ['#eceef0', '#fcfdfd'],
    ground: ['#f6f7f8', '#dfe1e4'],
    coveMetres: 1.6,
    vignette: 0.07,
    gloss: 0.1,
    pattern: 'plain',
  },
  studio_gray: {
    wall: ['#8c9095', '#c6c9cc'],
    ground: ['#b9bcc0', '#85898e'],
    coveMetres: 1.6,
    vignette: 0.16,
    gloss: 0.1,
    pattern: 'plain',
  },
  studio_dark: {
    wall: ['#131417', '#3d4046'],
    ground: ['#34373c', '#131417'],
    coveMetres: 1.6,
    vignette: 0.4,
    gloss: 0.22,
    pattern: 'plain',
  },
  showroom: {
    wall: ['#c9c3b8', '#ece8e1'],
    ground: ['#aaa59d', '#c9c5be'],
    coveMetres: 0,
    vignette: 0.12,
    gloss: 0.28,
    pattern: 'tiles',
  },
  forecourt: {
    wall: ['#6f9bcd', '#dde8f2'],
    ground: ['#9a9b9b', '#66686a'],
    coveMetres: 0,
    vignette: 0.05,
    gloss: 0,
    pattern: 'asphalt',
  },
};

/** Distance of the wall behind the vehicle's nearest point, in metres: a car fits before it. */
const WALL_METRES = 6.5;
/** Least distance of the wall's foot above the ground line, as a share of the vehicle's height. */
const LEAST_FLOOR = 0.16;
/** Side of a tile, and width of its joint, in metres. */
const TILE_METRES = 1.2;
const JOINT_METRES = 0.012;
/** Light of a joint in comparison to its tile. */
const JOINT_LIGHT = 0.86;
/** Side of the smallest stain of asphalt, in metres, and how much stains and hedge vary. */
const GRAIN_METRES = 0.05;
const GRAIN = 0.07;
/** Height of what stands behind a forecourt, in metres, at this distance. */
const HEDGE = { metres: 3.2, awayMetres: 45, colour: '#7d8b7f' };
/** Levels by which pixels vary, so that no gradient shows bands. */
const DITHER_LEVELS = 1.5;

/** How much of the vehicle the floor of a scene reflects, 0 to 1. */
export function glossOf(scene: Scene): number {
  return LOOKS[scene].gloss;
}

/** The row at which the scene's wall, or its sky, meets the ground. */
export function footOfWall(scene: Scene, size: Size, ground: Ground): number {
  const { horizon, distanceMetres, metrePixels, line, contacts } = ground;
  const nearest = Math.max(...line);
  const far = LOOKS[scene].pattern === 'asphalt' ? 1 : WALL_METRES / (distanceMetres + WALL_METRES);
  const foot = nearest - (nearest - horizon) * far;
  // Every tire stands on the floor, even if the guess at the perspective is wrong.
  const highest = Math.min(nearest, ...contacts.map(({ y }) => y));
  return clamp(Math.min(foot, highest - LEAST_FLOOR * metrePixels * CAMERA_METRES), 1, size.height - 1);
}

export function paintScene(scene: Scene, size: Size, ground: Ground): RgbImage {
  const { width, height } = size;
  const look = LOOKS[scene];
  const [wallTop, wallBottom, groundTop, groundBottom] = [...look.wall, ...look.ground].map(levelsOf) as unknown as [
    Rgb,
    Rgb,
    Rgb,
    Rgb,
  ];
  const foot = footOfWall(scene, size, ground);
  const half = Math.max(0.75, (look.coveMetres * ground.metrePixels) / 2);
  const middle = ground.left + ground.line.length / 2;
  const shade = shadeAcross(width, middle, look.vignette);
  const texture = textureOf(look.pattern, size, ground, middle);
  const noise = dither();
  const pixels = new Uint8Array(width * height * 3);
  const lights = new Float32Array(width);
  let at = 0;
  for (let y = 0; y < height; y += 1) {
    const above = mix(wallTop, wallBottom, clamp((y + 0.5) / foot, 0, 1));
    const below = mix(groundTop, groundBottom, clamp((y + 0.5 - foot) / (height - foot), 0, 1));
    const [red, green, blue] = mix(above, below, smoothStep((y + 0.5 - foot + half) / (2 * half)));
    lights.set(shade);
    const tint = texture?.(y, lights) ?? null;
    for (let x = 0; x < width; x += 1) {
      const light = lights[x] as number;
      const grain = noise();
      const share = tint ? (tint.shares[x] as number) : 0;
      pixels[at] = level((red + ((tint?.colour[0] ?? 0) - red) * share) * light + grain);
      pixels[at + 1] = level((green + ((tint?.colour[1] ?? 0) - green) * share) * light + grain);
      pixels[at + 2] = level((blue + ((tint?.colour[2] ?? 0) - blue) * share) * light + grain);
      at += 3;
    }
  }
  return { width, height, pixels };
}

/** Changes the light of a row; may say which share of each of its pixels has another colour. */
type Texture = (y: number, lights: Float32Array) => { colour: Rgb; shares: Float32Array } | null;

function textureOf(pattern: Look['pattern'], size: Size, ground: Ground, middle: number): Texture | null {
  if (pattern === 'tiles') return tiles(size, ground, middle);
  return pattern === 'asphalt' ? asphalt(size, ground, middle) : null;
}

/** Distance in metres, and pixels of a metre across, of the ground in a row below the horizon. */
function groundOfRow(y: number, { horizon, distanceMetres, metrePixels }: Ground) {
  // At the vehicle the camera's height is `CAMERA_METRES` × `metrePixels` below the horizon.
  const away = (distanceMetres * CAMERA_METRES * metrePixels) / Math.max(0.5, y + 0.5 - horizon);
  return { away, metre: (metrePixels * distanceMetres) / away };
}

function tiles(size: Size, ground: Ground, middle: number): Texture {
  const foot = footOfWall('showroom', size, ground);
  const skirting = Math.max(1, 0.012 * ground.metrePixels * CAMERA_METRES);
  return (y, lights) => {
    if (y + 0.5 < foot) {
      // A strip along the foot of the wall.
      if (foot - y < skirting) for (let x = 0; x < size.width; x += 1) lights[x] = (lights[x] as number) * 0.8;
      return null;
    }
    const { away, metre } = groundOfRow(y, ground);
    const nextAway = groundOfRow(y + 1, ground).away;
    // Width of the row in metres of depth: a joint that is narrower only tints it.
    const depth = Math.max(1e-6, away - nextAway);
    const across = coverage(away, depth);
    const pixel = 1 / metre;
    for (let x = 0; x < size.width; x += 1) {
      const joint = Math.max(across, coverage((x + 0.5 - middle) * pixel + TILE_METRES / 2, pixel));
      lights[x] = (lights[x] as number) * (1 - (1 - JOINT_LIGHT) * joint);
    }
    return null;
  };
}

/** Share of a pixel, `wide` metres across at `place`, that a joint covers. */
function coverage(place: number, wide: number): number {
  const inTile = place - Math.floor(place / TILE_METRES) * TILE_METRES;
  const away = Math.min(inTile, TILE_METRES - inTile);
  return clamp((JOINT_METRES / 2 + wide / 2 - away) / wide, 0, Math.min(1, JOINT_METRES / wide));
}

function asphalt(size: Size, ground: Ground, middle: number): Texture {
  const foot = footOfWall('forecourt', size, ground);
  const far = groundOfRow(foot, { ...ground, horizon: Math.min(ground.horizon, foot - 1) });
  const metreAway = (ground.metrePixels * ground.distanceMetres) / HEDGE.awayMetres;
  const tall = Math.min(HEDGE.metres * metreAway, foot * 0.6);
  const colour = levelsOf(HEDGE.colour);
  const shares = new Float32Array(size.width);
  // The hedge's upper edge, in rows above the foot of the sky.
  const edge = Float32Array.from({ length: size.width }, (_, x) => {
    const place = (x - middle) / metreAway;
    return tall * (0.72 + 0.28 * (valueNoise(place * 0.35, 3.5) * 0.7 + valueNoise(place * 1.3, 9.5) * 0.3));
  });
  const soft = Math.max(1, tall * 0.12);
  return (y, lights) => {
    if (y + 0.5 < foot) {
      const above = foot - y - 0.5;
      if (above > tall + soft) return null;
      for (let x = 0; x < size.width; x += 1) {
        shares[x] = 0.85 * smoothStep(((edge[x] as number) + soft / 2 - above) / soft);
      }
      return { colour, shares };
    }
    const { away, metre } = groundOfRow(y, ground);
    if (away > far.away * 4) return null;
    const pixel = 1 / metre;
    const coarsest = Math.max(pixel, away - groundOfRow(y + 1, ground).away);
    for (let octave = GRAIN_METRES, strength = GRAIN; octave < 3; octave *= 4, strength *= 0.75) {
      // What is finer than a pixel is even.
      const seen = strength * clamp(octave / coarsest - 1, 0, 1);
      if (seen === 0) continue;
      const row = away / octave;
      for (let x = 0; x < size.width; x += 1) {
        const place = ((x - middle) * pixel) / octave;
        lights[x] = (lights[x] as number) * (1 + seen * (valueNoise(place, row) - 0.5));
      }
    }
    return null;
  };
}

/** Smooth noise of cells of one unit, 0 to 1, the same in every run. */
function valueNoise(x: number, y: number): number {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  const [towardsRight, towardsBottom] = [smoothStep(x - column), smoothStep(y - row)];
  const upper = hashed(column, row) + (hashed(column + 1, row) - hashed(column, row)) * towardsRight;
  const lower = hashed(column, row + 1) + (hashed(column + 1, row + 1) - hashed(column, row + 1)) * towardsRight;
  return upper + (lower - upper) * towardsBottom;
}

function hashed(column: number, row: number): number {
  let hash = Math.imul(column, 0x27d4eb2d) ^ Math.imul(row, 0x165667b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/** Light of each column: full where the vehicle stands, less towards the sides. */
function shadeAcross(width: number, middle: number, vignette: number): Float32Array {
  const reach = Math.max(middle, width - middle);
  return Float32Array.from({ length: width }, (_, x) => 1 - vignette * smoothStep(Math.abs(x + 0.5 - middle) / reach));
}

/** Triangular noise around 0 from a linear congruential generator: the same in every run. */
function dither(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (((state >>> 24) + ((state >>> 16) & 255)) / 255 - 1) * (DITHER_LEVELS / 2);
  };
}

function level(value: number): number {
  return value <= 0 ? 0 : value >= 255 ? 255 : (value + 0.5) | 0;
}

function smoothStep(share: number): number {
  const held = clamp(share, 0, 1);
  return held * held * (3 - 2 * held);
}

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  return [
    one[0] + (other[0] - one[0]) * share,
    one[1] + (other[1] - one[1]) * share,
    one[2] + (other[2] - one[2]) * share,
  ];
}
