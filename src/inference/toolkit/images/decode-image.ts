/** File → pixels. Runs in child processes only: no other code parses pictures chosen by strangers. */
import sharp, { type Metadata } from 'sharp';
import { IMAGE_PIXELS, IMAGE_SIDE_PIXELS } from '../../../contracts/media-limits.ts';
import { ServiceError } from '../../../platform/service-error.ts';
import { countScans } from './jpeg-scans.ts';
import { isOutOfMemory } from './out-of-memory.ts';
import type { RgbImage } from './rgb-image.ts';
import { webpSize } from './webp-size.ts';

const TOO_LARGE = `The picture is too large: it may have at most ${IMAGE_PIXELS.toLocaleString('en-US')} pixels, and ${IMAGE_SIDE_PIXELS.toLocaleString('en-US')} on a side. Send a smaller one.`;
const NO_PICTURE =
  'The file is not a readable JPEG, PNG or WebP picture. Convert it to one of these and send it again.';
const DAMAGED = 'The picture cannot be decoded: the file is truncated or damaged. Send the complete original file.';
const TOO_MANY_SCANS = 'The picture is a progressive JPEG of too many scans. Save it again as a plain JPEG.';

/** Most scans of a progressive JPEG. Encoders write about 10, and decoding each costs as much as a whole picture. */
const JPEG_SCANS = 64;

/** Restricts libvips to four loaders and one thread, without a cache. Call it once per process, before decoding. */
export function restrictDecoder(): void {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: [
      'VipsForeignLoadJpegBuffer',
      'VipsForeignLoadPngBuffer',
      'VipsForeignLoadWebpBuffer',
      'VipsForeignLoadHeifBuffer',
    ],
  });
  sharp.concurrency(1);
  sharp.cache(false);
}

/**
 * Decodes a JPEG, PNG, WebP or AVIF as a viewer shows it: EXIF orientation applied, first frame, colours converted from the
 * embedded profile to sRGB, transparency on white. Checks the size in the header before it decodes pixels.
 * @throws ServiceError `input_unreadable` with advice for the caller; any other Error when memory runs out
 */
export async function decodeImage(bytes: Uint8Array): Promise<RgbImage> {
  try {
    // libvips allocates a whole WebP to read its header.
    const size = webpSize(bytes);
    if (size && isTooLarge(size)) throw unreadable(TOO_LARGE);
    // failOn 'error' also refuses truncated files.
    const file = sharp(bytes, { failOn: 'error', limitInputPixels: IMAGE_PIXELS, pages: 1, autoOrient: true });
    const header = await file.metadata();
    const problem = problemOf(header, bytes);
    if (problem) throw unreadable(problem);
    // sharp converts 16-bit colours only as far as Display P3.
    if (header.hasProfile && header.depth === 'ushort') file.withIccProfile('srgb');
    const { data, info } = await file
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    if (info.channels !== 3) throw new Error(`a decoded picture has ${info.channels} channels`);
    return { width: info.width, height: info.height, pixels: data };
  } catch (error) {
    if (error instanceof ServiceError || isOutOfMemory(error as Error)) throw error;
    throw unreadable(adviceFor((error as Error).message), error);
  }
}

function problemOf(header: Metadata, bytes: Uint8Array): string | null {
  const { format, compression, isProgressive } = header;
  if (isTooLarge(header)) return TOO_LARGE;
  if (format === 'jpeg' && isProgressive && countScans(bytes, JPEG_SCANS) > JPEG_SCANS) return TOO_MANY_SCANS;
  // One loader reads AVIF and its relatives, such as HEIC.
  if (format === 'heif' && compression !== 'av1') return NO_PICTURE;
  return null;
}

function isTooLarge({ width, height }: Pick<Metadata, 'width' | 'height'>): boolean {
  return Math.max(width, height) > IMAGE_SIDE_PIXELS || width * height > IMAGE_PIXELS;
}

function adviceFor(message: string): string {
  if (/exceeds pixel limit|exceeds.*dimension/i.test(message)) return TOO_LARGE;
  if (/unsupported image format|Input Buffer is empty/i.test(message)) return NO_PICTURE;
  return DAMAGED;
}

function unreadable(advice: string, cause?: unknown): ServiceError {
  return new ServiceError('input_unreadable', advice, { param: 'image', cause });
}
