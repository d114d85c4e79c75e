/** Pixels → file without EXIF or colour profile. Runs in child processes only, like the decoder. */
import sharp from 'sharp';
import type { OutputFormat } from '../../../contracts/vocabulary/renders.ts';
import type { EncodePicture } from './made-pictures.ts';

/** High enough for further editing. */
const QUALITY = 92;

export const encodePicture: EncodePicture = ({ width, height, channels, pixels, format }) => {
  const image = sharp(pixels, { raw: { width, height, channels } });
  // sharp would otherwise write a grey picture as colour.
  const coloured = channels === 1 ? image.toColourspace('b-w') : image;
  switch (format) {
    case 'jpg':
      return coloured.jpeg({ quality: QUALITY, chromaSubsampling: '4:4:4' }).toBuffer();
    case 'png':
      return coloured.png().toBuffer();
    case 'webp':
      return coloured.webp({ quality: QUALITY }).toBuffer();
  }
};

/** Format by the first byte of a file that was decoded before. AVIF counts as WebP. */
export function formatOf(file: Uint8Array): OutputFormat {
  if (file[0] === 0x89) return 'png';
  return file[0] === 0xff ? 'jpg' : 'webp';
}
