/** Pixels → file without EXIF or colour profile, with its provenance. Runs in child processes only, like the decoder. */
import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { PNG_XMP_HEADER, provenancePacket } from '../../../artefacts/provenance.ts';
import type { OutputFormat } from '../../../contracts/vocabulary/renders.ts';
import type { EncodePicture } from './made-pictures.ts';

/** High enough for further editing. */
const QUALITY = 92;

/** Bytes of a PNG's signature and header, after which other chunks may stand. */
const PNG_HEADER_BYTES = 8 + 12 + 13;

export const encodePicture: EncodePicture = async ({ width, height, channels, pixels, format, edits }) => {
  const image = sharp(pixels, { raw: { width, height, channels } });
  // sharp would otherwise write a grey picture as colour.
  const coloured = channels === 1 ? image.toColourspace('b-w') : image;
  const packet = provenancePacket(edits);
  switch (format) {
    case 'jpg':
      return coloured.withXmp(packet).jpeg({ quality: QUALITY, chromaSubsampling: '4:4:4' }).toBuffer();
    case 'png':
      return withTextChunk(await coloured.png().toBuffer(), PNG_XMP_HEADER, packet);
    case 'webp':
      return coloured.withXmp(packet).webp({ quality: QUALITY }).toBuffer();
  }
};

/** libvips compresses XMP into a chunk that readers of the standard do not look at. */
function withTextChunk(png: Buffer, header: string, text: string): Buffer {
  const typed = Buffer.concat([Buffer.from(`iTXt${header}`, 'latin1'), Buffer.from(text)]);
  const chunk = Buffer.alloc(typed.length + 8);
  chunk.writeUInt32BE(typed.length - 4);
  typed.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(typed), chunk.length - 4);
  return Buffer.concat([png.subarray(0, PNG_HEADER_BYTES), chunk, png.subarray(PNG_HEADER_BYTES)]);
}

/** Format of a picture that was sent. AVIF counts as WebP. */
export function formatOf(mediaType: string): OutputFormat {
  if (mediaType === 'image/png') return 'png';
  return mediaType === 'image/jpeg' ? 'jpg' : 'webp';
}
