/** The colour of a vehicle's paint: a network tells white, silver, gray and black from paint with a hue; rules over its pixels name that. */

import type { Part } from '../../contracts/vocabulary/parts.ts';
import type { COLORS } from '../../contracts/vocabulary/vehicles.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { fillPart, type OutlinedPart } from '../../inference/toolkit/segmentation/part-outlines.ts';
import { type Lab, toLab } from './lab.ts';

type Color = (typeof COLORS)[number];
type SeenPart = Pick<OutlinedPart, 'part' | 'box' | 'outlines'>;

export interface PaintColor {
  value: Color;
  /** As the picture shows it: light and exposure are not corrected. */
  hex: string;
  /** Of the network; by rules, the share of the paint's pixels that alone would get the same name. */
  confidence: number;
}

/** What a network makes of the paint: the probability of each colour without a hue, and of any other as null. */
export type PaintShades = ReadonlyMap<Color | null, number>;

const PANELS: readonly Part[] = ['hood', 'trunk_lid'];
const DOORS: readonly Part[] = ['front_door', 'rear_door'];
const BUMPERS: readonly Part[] = ['front_bumper', 'rear_bumper'];
/** Doors are outlined with their windows: below this share of their height there is paint. */
const WINDOW_SHARE = 0.55;
/** Most pixels that are looked at, evenly spread. */
const MOST_SAMPLES = 20_000;
/** Fewest pixels that tell a colour. */
const LEAST_SAMPLES = 200;

/** In CIELAB units. Chosen on 110 photographs of the training set. */
const LEAST_CHROMA = 14;
/** A bluish tint below this chroma is the sky in the paint. */
const SKY_CHROMA = 25;
const WHITE_LIGHTNESS = 74;
const SILVER_LIGHTNESS = 56;
const BLACK_LIGHTNESS = 24;
const BLACK_BUMPER_LIGHTNESS = 21;

/**
 * @param shades without them, rules tell everything
 * @returns null when too little paint is in the picture
 */
export function paintColor(parts: readonly SeenPart[], picture: RgbImage, shades?: PaintShades): PaintColor | null {
  const bumpers = samplesOf(parts, BUMPERS, picture);
  const panels = [...samplesOf(parts, PANELS, picture), ...samplesOf(parts, DOORS, picture, WINDOW_SHARE)];
  const paint = panels.length < LEAST_SAMPLES ? bumpers : panels;
  if (paint.length < LEAST_SAMPLES) return null;
  // The sky lightens a black hood, but not the bumper below it.
  const bumper = bumpers.length < LEAST_SAMPLES ? 100 : median(bumpers.map(({ lab }) => lab.lightness));
  const coloured = paint.filter(({ lab }) => isColoured(lab));
  const [shade, probability] = mostLikely(shades);
  const hasHue = shades ? shade === null : coloured.length > paint.length / 2;
  const typical = middleOf(hasHue && coloured.length >= LEAST_SAMPLES ? coloured : paint);
  const value = shade ?? (shades ? hueOf(typical) : nameOf(typical, bumper));
  const alike = paint.filter(({ lab }) => nameOf(lab, bumper) === value);
  const shown = alike.length > 0 ? alike : paint;
  const channel = (index: 0 | 1 | 2) => median(shown.map(({ rgb }) => rgb[index]));
  const hex = ([0, 1, 2] as const).map((index) => Math.round(channel(index)).toString(16).padStart(2, '0')).join('');
  return { value, hex: `#${hex}`, confidence: probability ?? alike.length / paint.length };
}

function mostLikely(shades: PaintShades | undefined): readonly [Color | null, number] | readonly [] {
  return [...(shades ?? [])].toSorted(([, a], [, b]) => b - a)[0] ?? [];
}

interface Sample {
  rgb: readonly [number, number, number];
  lab: Lab;
}

/** @param from share of each part's height above which its pixels are left out */
function samplesOf(parts: readonly SeenPart[], names: readonly Part[], picture: RgbImage, from = 0): Sample[] {
  const { width, height, pixels } = picture;
  const step = Math.max(1, Math.floor(Math.sqrt((width * height) / MOST_SAMPLES)));
  return parts
    .filter(({ part }) => names.includes(part))
    .flatMap((part) => {
      const mask = fillPart(part, picture);
      const { x0, y0, x1, y1 } = part.box;
      const samples: Sample[] = [];
      for (let y = Math.ceil(y0 + from * (y1 - y0)); y < Math.min(height, y1); y += step) {
        for (let x = Math.ceil(x0); x < Math.min(width, x1); x += step) {
          const place = y * width + x;
          if (!mask[place]) continue;
          const [red = 0, green = 0, blue = 0] = pixels.subarray(place * 3, place * 3 + 3);
          samples.push({ rgb: [red, green, blue], lab: toLab(red, green, blue) });
        }
      }
      return samples;
    });
}

function isColoured(lab: Lab): boolean {
  const { chroma, hueDegrees } = polar(lab);
  const mayBeSky = hueDegrees >= 220 && hueDegrees < 305;
  return chroma >= (mayBeSky ? SKY_CHROMA : LEAST_CHROMA);
}

/** @param bumper its lightness, or 100 for an unknown one */
function nameOf(lab: Lab, bumper: number): Color {
  const { lightness } = lab;
  if (!isColoured(lab)) {
    if (lightness >= WHITE_LIGHTNESS) return 'white';
    if (lightness < BLACK_LIGHTNESS || bumper < BLACK_BUMPER_LIGHTNESS) return 'black';
    return lightness >= SILVER_LIGHTNESS ? 'silver' : 'gray';
  }
  return hueOf(lab);
}

function hueOf(lab: Lab): Color {
  const { lightness } = lab;
  const { chroma, hueDegrees } = polar(lab);
  if (hueDegrees < 45 || hueDegrees >= 345) {
    if (lightness > 65 && chroma < 45) return 'pink';
    return lightness < 20 ? 'burgundy' : 'red';
  }
  if (hueDegrees < 105) {
    if (chroma < 25) return lightness < 45 ? 'brown' : 'beige';
    if (lightness < 45) return 'brown';
    if (hueDegrees < 80) return 'orange';
    return chroma < 45 ? 'gold' : 'yellow';
  }
  if (hueDegrees < 190) return 'green';
  if (hueDegrees < 235) return 'turquoise';
  return hueDegrees < 305 ? 'blue' : 'purple';
}

function polar({ a, b }: Lab): { chroma: number; hueDegrees: number } {
  return { chroma: Math.hypot(a, b), hueDegrees: ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360 };
}

function middleOf(samples: readonly Sample[]): Lab {
  return {
    lightness: median(samples.map(({ lab }) => lab.lightness)),
    a: median(samples.map(({ lab }) => lab.a)),
    b: median(samples.map(({ lab }) => lab.b)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
