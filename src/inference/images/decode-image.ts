/** File → pixels. Runs in child processes only: it is the one place that parses bytes chosen by strangers. */
import sharp from 'sharp';
import { IMAGE_PIXELS } from '../../contracts/media-limits.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { RgbImage } from './rgb-image.ts';

/** Call once per process: no loader but these three, one thread, nothing kept between pictures. */
export function restrictDecoder(): void {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
  });
  sharp.concurrency(1);
  sharp.cache(false);
}

/**
 * Decodes a JPEG, PNG or WebP as a viewer shows it: turned by its EXIF orientation, first frame, colours converted to
 * sRGB, transparency on white.
 * @throws ServiceError `input_unreadable` that tells the caller what to change.
 */
export async function decodeImage(bytes: Uint8Array): Promise<RgbImage> {
  try {
    // failOn 'error' also refuses truncated files; half a picture must not be read as a whole one.
    const image = sharp(bytes, { failOn: 'error', limitInputPixels: IMAGE_PIXELS, pages: 1, autoOrient: true })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' });
    const { data, info } = await image.toBuffer({ resolveWithObject: true });
    if (info.channels !== 3) throw new Error(`a decoded picture has ${info.channels} channels`);
    return { width: info.width, height: info.height, pixels: data };
  } catch (error) {
    throw new ServiceError('input_unreadable', adviceFor(error as Error), { param: 'image', cause: error });
  }
}

function adviceFor({ message }: Error): string {
  if (/exceeds pixel limit|exceeds.*dimension/i.test(message)) {
    return `The picture is too large: width × height may be at most ${IMAGE_PIXELS.toLocaleString('en-US')} pixels. Send a smaller one.`;
  }
  if (/unsupported image format|Input Buffer is empty/i.test(message)) {
    return 'The file is not a readable JPEG, PNG or WebP picture. Convert it to one of these and send it again.';
  }
  return 'The picture cannot be decoded: the file is truncated or damaged. Send the complete original file.';
}
