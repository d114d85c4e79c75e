/** Draws codes. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import sharp from 'sharp';
import { prepareZXingModule, type WriterOptions, writeBarcode } from 'zxing-wasm/writer';
import { decodeImage } from '../../../src/inference/toolkit/images/decode-image.ts';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';

export type CodeFormat = NonNullable<WriterOptions['format']>;

const WASM = createRequire(import.meta.url).resolve('zxing-wasm/writer/zxing_writer.wasm');
let loaded: Promise<unknown> | undefined;

/** An SVG with quiet zones. @param scale pixels of a module */
export async function drawCode(format: CodeFormat, text: string, scale = 3): Promise<Buffer> {
  loaded ??= readFile(WASM).then((file) =>
    prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(file).buffer }, fireImmediately: true }),
  );
  await loaded;
  return Buffer.from((await writeBarcode(text, { format, scale, addQuietZones: true })).svg);
}

/** A picture of nothing but the code. @param scale pixels of a module */
export async function coded(format: CodeFormat, text: string, scale = 3): Promise<RgbImage> {
  return decodeImage(
    await sharp(await drawCode(format, text, scale))
      .flatten({ background: '#ffffff' })
      .png()
      .toBuffer(),
  );
}
