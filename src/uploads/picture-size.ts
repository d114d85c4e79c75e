/**
 * Width and height of a stored picture as displayed, from its header. Only numbers at known places are read; no other code
 * outside the sandbox parses pictures. Formats: ITU-T T.81 and Exif 2.32 (JPEG), PNG (W3C), RFC 9649 (WebP).
 */
import { buffer } from 'node:stream/consumers';
import type { JobInput } from '../contracts/job.ts';
import type { ObjectStore } from '../platform/storage/object-store.ts';

export interface PictureSize {
  width: number;
  height: number;
}

/** The headers of cameras, with their thumbnails and previews, are shorter. */
const HEADER_BYTES = 512 * 1024;

/** Null where the header does not tell, or not how the picture is turned. @throws ObjectNotFoundError */
export async function readPictureSize(
  store: Pick<ObjectStore, 'stream'>,
  { storageKey, mediaType, bytes }: Pick<JobInput, 'storageKey' | 'mediaType' | 'bytes'>,
): Promise<PictureSize | null> {
  const read = READERS[mediaType];
  if (!read || bytes === 0) return null;
  const header = await buffer(await store.stream(storageKey, { start: 0, end: Math.min(bytes, HEADER_BYTES) - 1 }));
  try {
    const size = read(header);
    return size && size.width > 0 && size.height > 0 ? size : null;
  } catch (error) {
    // The header ends before the number.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const READERS: Readonly<Record<string, (header: Buffer) => PictureSize | null>> = {
  'image/jpeg': sizeOfJpeg,
  'image/png': sizeOfPng,
  'image/webp': sizeOfWebp,
};

/** The chunk IHDR comes first. One with Exif data may be turned. */
function sizeOfPng(header: Buffer): PictureSize | null {
  if (header.includes('eXIf')) return null;
  return { width: header.readUInt32BE(16), height: header.readUInt32BE(20) };
}

function sizeOfWebp(header: Buffer): PictureSize | null {
  switch (header.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: header.readUInt16LE(26) & 0x3fff, height: header.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = header.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      // One with Exif data may be turned.
      return header.readUInt8(20) & 0x08
        ? null
        : { width: header.readUIntLE(24, 3) + 1, height: header.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

const JPEG_EXIF = 0xe1;
const JPEG_START_OF_SCAN = 0xda;

/** Whether the marker is of a frame: its segment holds the size. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function sizeOfJpeg(header: Buffer): PictureSize | null {
  let isTurned = false;
  for (let at = 2; header.readUInt8(at) === 0xff; ) {
    const marker = header.readUInt8(at + 1);
    // Any number of fill bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === JPEG_START_OF_SCAN) return null;
    const length = header.readUInt16BE(at + 2);
    if (isFrame(marker)) {
      const [height, width] = [header.readUInt16BE(at + 5), header.readUInt16BE(at + 7)];
      return isTurned ? { width: height, height: width } : { width, height };
    }
    if (marker === JPEG_EXIF) isTurned ||= orientationIn(header.subarray(at + 4, at + 2 + length)) >= 5;
    at += 2 + length;
  }
  return null;
}

const ORIENTATION_TAG = 0x0112;

/** 1 to 8; from 5 on, width and height are exchanged. 1 where the segment does not tell. */
function orientationIn(segment: Buffer): number {
  if (segment.toString('latin1', 0, 6) !== 'Exif\0\0') return 1;
  const tiff = segment.subarray(6);
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  for (let entry = 0; entry < short(directory); entry += 1) {
    const at = directory + 2 + entry * 12;
    if (short(at) === ORIENTATION_TAG) return short(at + 8);
  }
  return 1;
}
