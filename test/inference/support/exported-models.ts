/** The tiny networks of `exported/`, installed as an operator installs a model. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';

type Json = Record<string, unknown>;

/** The `model.json` of the guide, `docs/models.md`. */
export function manifestOfGuide(): Json & { model: string; release: string; files: { detector: Json } } {
  const guide = readFileSync(new URL('../../../docs/models.md', import.meta.url), 'utf8');
  const [, block] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
  if (block === undefined) throw new Error('the guide shows no model.json');
  return JSON.parse(block) as ReturnType<typeof manifestOfGuide>;
}

/** Writes a release: the given `model.json`, and the files it names, each a copy of `network`. */
export function installModel(modelsDirectory: string, manifest: Json, network: string): void {
  const { model, release, files } = manifest as { model: string; release: string; files: Record<string, Json> };
  const folder = join(modelsDirectory, model, release);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'model.json'), JSON.stringify(manifest));
  for (const { path } of Object.values(files)) writeFileSync(join(folder, String(path)), bytesOf(network));
}

/** An entry of `files` for one of the tiny networks, in the words of the guide but for what is given. */
export function fileOf(network: string, changes: Json): Json {
  const sha256 = createHash('sha256').update(bytesOf(network)).digest('hex');
  return { ...manifestOfGuide().files.detector, path: `${network}.onnx`, sha256, ...changes };
}

function bytesOf(network: string): Buffer {
  return readFileSync(new URL(`../exported/${network}.onnx`, import.meta.url));
}

export interface Patch {
  colour: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Patches of colour on grey, 128 × 96: the networks see it at half its size, 8 pixels lower. */
export function paint(patches: readonly Patch[]): Promise<Buffer> {
  return sharp({ create: { width: 128, height: 96, channels: 3, background: '#727272' } })
    .composite(
      patches.map(({ colour, x, y, width, height }) => ({
        input: { create: { width, height, channels: 3, background: colour } },
        left: x,
        top: y,
      })),
    )
    .png()
    .toBuffer();
}

/** Ramps with a fine pattern. The same formula stands in goldens/make_export_goldens.py. */
export function smoothPicture(width: number, height: number): RgbImage {
  const pixels = new Uint8Array(width * height * 3);
  for (let index = 0; index < pixels.length; index += 1) {
    const channel = index % 3;
    const x = Math.floor(index / 3) % width;
    const y = Math.floor(index / 3 / width);
    pixels[index] = (x * 2 + y * 3 + ((x * y) % 7) * 4 + channel * 61) % 256;
  }
  return { width, height, pixels };
}
