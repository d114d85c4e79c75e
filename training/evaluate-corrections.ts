/**
 * What the corrections of `render.enhance` do to photographs, end to end: picture → file. Prints, for each correction, how many
 * photographs it is applied to as they are, how often it is applied to the same photographs after a damage that it is there for, and
 * how much closer (PSNR, dB) it brings those to the photograph; and whether `plate.read` reads the same numbers before and after.
 *
 *     node training/evaluate-corrections.ts --pictures FOLDER [--most 60] [--plates FOLDER] [--plates-most 54]
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import type { Result as ReadResult } from '../src/endpoints/plate.read/result.ts';
import type { Result } from '../src/endpoints/render.enhance/result.ts';
import { encodePicture } from '../src/inference/toolkit/images/encode-image.ts';
import type { MadePicture } from '../src/inference/toolkit/images/made-pictures.ts';
import { openProduct } from './evaluate-readers.ts';
import { normal, randomFrom } from './print-pictures.ts';

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    pictures: { type: 'string' },
    most: { type: 'string', default: '60' },
    plates: { type: 'string' },
    'plates-most': { type: 'string', default: '54' },
  },
});
if (options.pictures === undefined) throw new Error('--pictures names the folder of the photographs');

type Made = Omit<Result, 'image'> & { image: MadePicture };
/** Damages, one for each correction. */
const DAMAGES = {
  denoise: (bytes: Buffer) => withNoise(bytes, 10),
  // A quarter of the light: two stops.
  exposure_correction: (bytes: Buffer) => inLight(bytes, [0.25, 0.25, 0.25]),
  // From daylight to a cloudy evening's warmth.
  white_balance: (bytes: Buffer) => inLight(bytes, [1.1, 1, 0.7]),
  // Out of focus, and compressed by the camera afterwards.
  deblur: (bytes: Buffer) => sharp(bytes).blur(2).jpeg({ quality: 92 }).toBuffer(),
  sharpen: (bytes: Buffer) => sharp(bytes).blur(1).png().toBuffer(),
} as const;
const OPERATIONS = Object.keys(DAMAGES) as (keyof typeof DAMAGES)[];

const open = await openProduct(options.models);
const enhancer = await open('render.enhance');
const { pictures, most } = options;
const names = (await readdir(pictures)).filter((name) => /\.(?:jpe?g|png)$/i.test(name)).slice(0, Number(most));
for (const operation of OPERATIONS) {
  let [asTheyAre, applied, closer] = [0, 0, 0];
  const gains: number[] = [];
  for (const name of names) {
    const whole = await sharp(await readFile(join(pictures, name)))
      .removeAlpha()
      .toColourspace('srgb')
      .png()
      .toBuffer();
    if ((await enhance(whole, operation)).operations_applied.length > 0) asTheyAre += 1;
    const damaged = await DAMAGES[operation](whole);
    const { image, operations_applied } = await enhance(damaged, operation);
    if (operations_applied.length === 0) continue;
    applied += 1;
    const truth = await pixelsOf(whole);
    const gain = likeness(image.pixels, truth) - likeness(await pixelsOf(damaged), truth);
    gains.push(gain);
    if (gain > 0) closer += 1;
  }
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  console.log(
    `${operation}: applied to ${asTheyAre} of ${names.length} as they are; damaged: applied to ${applied}, closer in ${closer}, mean gain ${mean.toFixed(2)} dB`,
  );
}
if (options.plates !== undefined) await comparePlates(options.plates, Number(options['plates-most']));

async function enhance(bytes: Buffer, operation: string): Promise<Made> {
  return (await enhancer.read(bytes, { operations: [operation], output_format: 'png' })) as Made;
}

/** Whatever is applied by default, at full strength, and enlarged: are the same numbers read? */
async function comparePlates(folder: string, count: number): Promise<void> {
  const reader = await open('plate.read');
  const textsIn = async (bytes: Uint8Array) =>
    ((await reader.read(bytes)) as ReadResult).plates.flatMap(({ text }) => (text === null ? [] : [text])).sort();
  let [same, lost, gained, altered, compared] = [0, 0, 0, 0, 0];
  for (const name of (await readdir(folder)).slice(0, count)) {
    const bytes = await readFile(join(folder, name));
    const { image, operations_applied } = (await enhancer.read(bytes, { strength: 1, output_format: 'png' })) as Made;
    if (operations_applied.length === 0) continue;
    compared += 1;
    const [before, after] = [await textsIn(bytes), await textsIn(await encodePicture(image))];
    const applied = operations_applied.map(({ operation }) => operation).join('+');
    if (before.join() === after.join()) same += 1;
    else {
      if (before.length > after.length) lost += 1;
      else if (before.length < after.length) gained += 1;
      else altered += 1;
      console.log(
        `${name} (${applied}): ${before.join(' ') || 'nothing'} before, ${after.join(' ') || 'nothing'} after`,
      );
    }
  }
  console.log(
    `plates: ${compared} pictures enhanced; the same read in ${same}, fewer ${lost}, more ${gained}, others ${altered}`,
  );
}

/** @param deviation of Gaussian noise, in levels */
async function withNoise(bytes: Buffer, deviation: number): Promise<Buffer> {
  const random = randomFrom(1);
  const { width, height } = await sharp(bytes).metadata();
  const damaged = (await pixelsOf(bytes)).map((level) =>
    Math.min(255, Math.max(0, Math.round(level + deviation * normal(random)))),
  );
  return sharp(damaged, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

/** The photograph under another light. @param gains of red, green and blue, in linear light */
async function inLight(bytes: Buffer, gains: readonly number[]): Promise<Buffer> {
  const { width, height } = await sharp(bytes).metadata();
  const tables = gains.map((gain) =>
    Uint8Array.from({ length: 256 }, (_, level) => Math.min(255, Math.round(255 * gain ** (1 / 2.2) * (level / 255)))),
  );
  const damaged = (await pixelsOf(bytes)).map((level, index) => tables[index % 3]?.[level] ?? 0);
  return sharp(damaged, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

async function pixelsOf(bytes: Buffer): Promise<Uint8Array> {
  return sharp(bytes).removeAlpha().toColourspace('srgb').raw().toBuffer();
}

/** Peak signal-to-noise ratio, in dB. */
function likeness(one: Uint8Array, other: Uint8Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) sum += ((one[index] as number) - (other[index] as number)) ** 2;
  return 10 * Math.log10(255 ** 2 / (sum / one.length));
}
