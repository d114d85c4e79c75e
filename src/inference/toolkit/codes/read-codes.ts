/** Finds bar codes and matrix codes in a picture and decodes them. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { prepareZXingModule, type ReadResult, readBarcodes } from 'zxing-wasm/reader';
import { clamp } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import type { Quad } from '../decoding/rotated-boxes.ts';
import { resample } from '../images/resample.ts';
import type { RgbImage } from '../images/rgb-image.ts';

/** The package's names of the symbologies that vehicles and their documents carry. */
const FORMATS = {
  code_39: 'Code39',
  code_93: 'Code93',
  code_128: 'Code128',
  data_matrix: 'DataMatrix',
  qr: 'QRCode',
  aztec: 'Aztec',
  pdf417: 'PDF417',
} as const;

export type Symbology = keyof typeof FORMATS;

export const SYMBOLOGIES = Object.keys(FORMATS) as Symbology[];

export interface FoundCode {
  symbology: Symbology;
  /** Null if the code was found but its errors are too many to be corrected. */
  content: { text: string; bytes: Uint8Array } | null;
  /** In pixels of the picture, in the code's own orientation: its top left corner first, then clockwise. */
  quad: Quad;
}

/** Larger pictures are searched scaled down first: most codes are large enough, and time grows with the pixels. */
const FIRST_PIXELS = 4_000_000;
/** Most pixels searched. The package copies four bytes of each into memory that it keeps. */
const MOST_PIXELS = 16_000_000;
const MOST_CODES = 16;

const WASM = createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm');
let loaded: Promise<unknown> | undefined;

/** @param symbologies to look for: fewer cost less time and are mistaken for others less often */
export async function readCodes(
  picture: RgbImage,
  symbologies: readonly Symbology[] = SYMBOLOGIES,
): Promise<FoundCode[]> {
  loaded ??= load();
  await loaded;
  const pixels = picture.width * picture.height;
  const found = await search(picture, Math.min(1, Math.sqrt(FIRST_PIXELS / pixels)), symbologies);
  if (pixels <= FIRST_PIXELS || found.some(({ content }) => content !== null)) return found;
  const closer = await search(picture, Math.min(1, Math.sqrt(MOST_PIXELS / pixels)), symbologies);
  return closer.length > 0 ? closer : found;
}

/** From the installed package: by default it fetches its binary from a content delivery network. */
async function load(): Promise<void> {
  const { buffer, byteOffset, byteLength } = await readFile(WASM);
  const wasmBinary = buffer.slice(byteOffset, byteOffset + byteLength);
  await prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
}

async function search(picture: RgbImage, scale: number, symbologies: readonly Symbology[]): Promise<FoundCode[]> {
  const { width, height } = picture;
  const [scaledWidth, scaledHeight] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const scaled =
    scale === 1 ? picture : resample(picture, { x0: 0, y0: 0, x1: width, y1: height }, scaledWidth, scaledHeight);
  const results = await readBarcodes(withAlpha(scaled), {
    formats: symbologies.map((symbology) => FORMATS[symbology]),
    textMode: 'Plain',
    returnErrors: true,
    maxNumberOfSymbols: MOST_CODES,
  });
  const [across, down] = [width / scaledWidth, height / scaledHeight];
  return results.flatMap((result) => {
    const symbology = SYMBOLOGIES.find((each) => FORMATS[each] === result.symbology);
    if (!symbology) return [];
    const content = result.isValid ? { text: result.text, bytes: result.bytes } : null;
    return [{ symbology, content, quad: quadOf(result, { across, down, width, height }) }];
  });
}

/** Within the picture: the decoder estimates corners, also beyond its edge. */
function quadOf(
  { position: { topLeft, topRight, bottomRight, bottomLeft } }: ReadResult,
  { across, down, width, height }: { across: number; down: number; width: number; height: number },
): Quad {
  const at = ({ x, y }: Point) => ({ x: clamp(x * across, 0, width), y: clamp(y * down, 0, height) });
  return [at(topLeft), at(topRight), at(bottomRight), at(bottomLeft)];
}

/** As the package takes pixels: [height, width, 4]. */
function withAlpha({ width, height, pixels }: RgbImage) {
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let from = 0, to = 0; from < pixels.length; from += 3, to += 4) {
    data[to] = pixels[from] as number;
    data[to + 1] = pixels[from + 1] as number;
    data[to + 2] = pixels[from + 2] as number;
  }
  return { width, height, data, colorSpace: 'srgb' as const };
}
