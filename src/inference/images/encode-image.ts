/** Pixels → file. Runs in child processes only, where the decoder is. What is made holds pixels alone: no EXIF, no profile. */
import sharp from 'sharp';
import type { OutputFormat } from '../../contracts/vocabulary/renders.ts';
import type { EncodePicture } from '../made-files.ts';

/** High enough that a picture may be worked on further. */
const QUALITY = 92;

export const encodePicture: EncodePicture = ({ width, height, channels, pixels, format }) => {
  const image = sharp(pixels, { raw: { width, height, channels } });
  // Without it, sharp makes a colour picture of a grey one.
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

/** Of a file that was decoded as one of the three. */
export function formatOf(file: Uint8Array): OutputFormat {
  if (file[0] === 0x89) return 'png';
  return file[0] === 0xff ? 'jpg' : 'webp';
}
