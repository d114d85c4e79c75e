/** Finds bar codes and matrix codes in a picture and decodes them. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { prepareZXingModule, type ReadResult, readBarcodes } from 'zxing-wasm/reader';
import { clampPoint, type Point } from '../decoding/detections.ts';
import type { Quad } from '../decoding/rotated-boxes.ts';
import { projection, rectify } from '../images/rectify.ts';
import { reduce } from '../images/reduce.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { growQuad, straighten } from '../text/straighten.ts';

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

export const SYMBOLOGIES: readonly Symbology[] = Object.keys(FORMATS) as Symbology[];

export interface FoundCode {
  symbology: Symbology;
  /** Null if the code was found but its errors are too many to be corrected. */
  content: { text: string; bytes: Uint8Array } | null;
  /** In pixels of the picture, in the code's own orientation: its top left corner first, then clockwise. */
  quad: Quad;
}

/** Larger pictures are searched scaled down first: most codes are large enough, and time grows with the pixels. */
const FIRST_PIXELS = 4_000_000;
/** Most pixels searched. The package copies each into memory that it keeps. */
const MOST_PIXELS = 16_000_000;
const MOST_CODES = 16;

const WASM = createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm');
let loaded: Promise<unknown> | undefined;

export interface CodeSearch {
  /** Whether codes may be light on dark, as lasers write them into labels and metal. Paper has none. Default true. */
  lightOnDark?: boolean;
}

/** @param symbologies to look for: fewer cost less time and are mistaken for others less often */
export async function readCodes(
  picture: RgbImage,
  symbologies: readonly Symbology[] = SYMBOLOGIES,
  how: CodeSearch = {},
): Promise<FoundCode[]> {
  const found = await readLargeCodes(picture, symbologies, how);
  if (found.some(({ content }) => content !== null)) return found;
  const closer = await readSmallCodes(picture, symbologies, how);
  return closer.length > 0 ? closer : found;
}

/** The first part of `readCodes`: a large picture is scaled down. */
export function readLargeCodes(
  picture: RgbImage,
  symbologies = SYMBOLOGIES,
  how: CodeSearch = {},
): Promise<FoundCode[]> {
  return search(picture, Math.min(1, Math.sqrt(FIRST_PIXELS / (picture.width * picture.height))), symbologies, how);
}

/** The second, slower part: what a large picture shows besides. Empty for other pictures. */
export async function readSmallCodes(
  picture: RgbImage,
  symbologies = SYMBOLOGIES,
  how: CodeSearch = {},
): Promise<FoundCode[]> {
  const pixels = picture.width * picture.height;
  return pixels <= FIRST_PIXELS ? [] : search(picture, Math.min(1, Math.sqrt(MOST_PIXELS / pixels)), symbologies, how);
}

/** The decoder needs rows that are nearly level: it finds tilted ones, but cannot decode them. In degrees. */
const TURNS = [0, -12, 12, -24, 24];
/** By which a code that was found is cut out larger, as shares of its sides. */
const GROWTH = [0.03, 0.1] as const;

/**
 * As `readCodes`, for codes that the picture shows tilted by up to 30 degrees, or in perspective: each that is found is
 * straightened and read again. At most one, which can be decoded.
 * @param asSent what `readCodes` returned for the same picture, if it was asked already
 */
export async function readTiltedCodes(
  picture: RgbImage,
  symbologies: readonly Symbology[],
  how: CodeSearch = {},
  asSent?: readonly FoundCode[],
): Promise<FoundCode[]> {
  const { width, height } = picture;
  for (const degrees of TURNS) {
    const corners = turnedCorners(picture, (degrees * Math.PI) / 180);
    const turned = degrees === 0 ? picture : rectify(picture, corners, width, height);
    const toPicture = projection(corners);
    const back = ({ x, y }: Point): Point => clampPoint(toPicture(x / width, y / height), picture);
    const found = (degrees === 0 && asSent) || (await readCodes(turned, symbologies, how));
    for (const { quad, content, symbology } of found) {
      const straight = content ? [] : await readCodes(straighten(turned, growQuad(quad, ...GROWTH)), symbologies, how);
      const decoded = content ?? straight[0]?.content;
      if (!decoded) continue;
      const [a, b, c, d] = quad;
      return [{ symbology, content: decoded, quad: [back(a), back(b), back(c), back(d)] }];
    }
  }
  return [];
}

/** Of a picture as large as this one, turned about its middle. */
function turnedCorners({ width, height }: RgbImage, angle: number): Quad {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const at = (x: number, y: number): Point => ({
    x: width / 2 + x * cosine - y * sine,
    y: height / 2 + x * sine + y * cosine,
  });
  const [right, bottom] = [width / 2, height / 2];
  return [at(-right, -bottom), at(right, -bottom), at(right, bottom), at(-right, bottom)];
}

/** From the installed package: by default it fetches its binary from a content delivery network. */
async function load(): Promise<void> {
  const { buffer, byteOffset, byteLength } = await readFile(WASM);
  const wasmBinary = buffer.slice(byteOffset, byteOffset + byteLength);
  await prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
}

async function search(
  picture: RgbImage,
  scale: number,
  symbologies: readonly Symbology[],
  { lightOnDark = true }: CodeSearch,
): Promise<FoundCode[]> {
  loaded ??= load();
  await loaded;
  const { width, height } = picture;
  const [scaledWidth, scaledHeight] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const scaled = scale === 1 ? picture : await reduce(picture, scaledWidth, scaledHeight);
  const results = await readBarcodes(toLumaFile(scaled), {
    formats: symbologies.map((symbology) => FORMATS[symbology]),
    textMode: 'Plain',
    returnErrors: true,
    tryInvert: lightOnDark,
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
  const at = ({ x, y }: Point) => clampPoint({ x: x * across, y: y * down }, { width, height });
  return [at(topLeft), at(topRight), at(bottomRight), at(bottomLeft)];
}

/**
 * The luma of a picture as a file (PGM), which the package decodes by copying it. It takes pixels with alpha as well, computes the
 * same luma from them, and takes longer.
 */
function toLumaFile({ width, height, pixels }: RgbImage): Uint8Array {
  const header = Buffer.from(`P5\n${width} ${height}\n255\n`);
  const file = new Uint8Array(header.length + width * height);
  file.set(header);
  const end = file.length;
  for (let from = 0, to = header.length; to < end; from += 3, to += 1) {
    file[to] =
      (306 * (pixels[from] as number) +
        601 * (pixels[from + 1] as number) +
        117 * (pixels[from + 2] as number) +
        512) >>
      10;
  }
  return file;
}
