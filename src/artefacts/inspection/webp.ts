/** WebP, still or animated. Sources: RFC 9649, sections 2 and 3; RFC 6386, section 9.1 (VP8). */
import { isProvenancePacket } from '../provenance.ts';
import { BYTES_AFTER_END, FileFault, holdToBound, TRUNCATED, take } from './file-fault.ts';
import type { Size } from './size.ts';

export interface Chunk {
  type: string;
  content: Buffer;
}

const OPACITY = 0x10;
const MOVES = 0x02;
const XMP = 0x04;
const FRAME_HEADER_BYTES = 16;

/** @throws FileFault */
export function examineWebp(bytes: Buffer): Size {
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  if (!isWebp) throw new FileFault('is not a WebP');
  const end = 8 + bytes.readUInt32LE(4);
  if (end !== bytes.length) throw new FileFault(end < bytes.length ? BYTES_AFTER_END : TRUNCATED);
  const [first, ...others] = chunksIn(bytes.subarray(12));
  if (first?.type !== 'VP8X') return sizeOfPicture(first ? [first, ...others] : []);

  const canvas = readCanvas(first.content);
  if (canvas.hasXmp) takeProvenance(others);
  const [animation, ...frames] = others;
  if (!canvas.moves || animation?.type !== 'ANIM') return sameSize(canvas, sizeOfPicture(others));
  if (animation.content.length !== 6 || frames.length === 0) throw new FileFault('contains a chunk ANIM');
  for (const frame of frames) examineFrame(frame, canvas);
  return { width: canvas.width, height: canvas.height };
}

/** Chunks cover the content to its last byte; the padding byte of an odd chunk is 0. */
function chunksIn(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 0; at < bytes.length; ) {
    const header = take(bytes, at, 8);
    const type = header.toString('latin1', 0, 4).replace(/[^A-Za-z0-9 ]/g, '?');
    const length = header.readUInt32LE(4);
    const padding = take(bytes, at + 8, length + (length % 2)).subarray(length);
    if (padding.some((byte) => byte !== 0)) throw new FileFault(`has nonzero padding after the chunk ${type}`);
    holdToBound(chunks.length);
    chunks.push({ type, content: bytes.subarray(at + 8, at + 8 + length) });
    at += 8 + length + padding.length;
  }
  return chunks;
}

function readCanvas(content: Buffer): Size & { moves: boolean; hasXmp: boolean } {
  const [flags = 0] = content;
  const isAsDefined =
    content.length === 10 && (flags & ~(OPACITY | MOVES | XMP)) === 0 && content.readUIntLE(1, 3) === 0;
  if (!isAsDefined) throw new FileFault(`contains or announces a colour profile or EXIF`);
  return {
    width: content.readUIntLE(4, 3) + 1,
    height: content.readUIntLE(7, 3) + 1,
    moves: (flags & MOVES) !== 0,
    hasXmp: (flags & XMP) !== 0,
  };
}

/** Removes the last chunk of a file, which says what the service did to the picture. */
function takeProvenance(chunks: Chunk[]): void {
  const last = chunks.pop();
  if (last?.type !== 'XMP ' || !isProvenancePacket(last.content)) throw new FileFault('contains or announces XMP');
}

/** A picture is one chunk; a lossy picture with transparency has an `ALPH` chunk before it. */
function sizeOfPicture(chunks: readonly Chunk[]): Size {
  const [first, second] = chunks;
  const hasOpacity = first?.type === 'ALPH' && second?.type === 'VP8 ';
  const picture = hasOpacity ? second : first;
  const size = picture && sizeOf(picture);
  if (!size) throw new FileFault(first ? `contains a chunk ${first.type}` : 'contains no picture');
  const other = chunks[hasOpacity ? 2 : 1];
  if (other) throw new FileFault(`contains a chunk ${other.type}`);
  return size;
}

/** Size in pixels of a picture's chunk, of which 10 bytes suffice; null for any other chunk. */
export function sizeOf({ type, content }: Chunk): Size | null {
  // After frame tag and start code, 14 bits per side.
  if (type === 'VP8 ' && content.length >= 10 && content.readUIntBE(3, 3) === 0x9d012a) {
    return { width: content.readUInt16LE(6) & 0x3fff, height: content.readUInt16LE(8) & 0x3fff };
  }
  if (type !== 'VP8L' || content.length < 5 || content[0] !== 0x2f) return null;
  // After the signature, 14 bits per side.
  const sides = content.readUInt32LE(1);
  return { width: (sides & 0x3fff) + 1, height: ((sides >>> 14) & 0x3fff) + 1 };
}

function examineFrame({ type, content }: Chunk, canvas: Size): void {
  if (type !== 'ANMF') throw new FileFault(`contains a chunk ${type}`);
  const header = take(content, 0, FRAME_HEADER_BYTES);
  const [x, y] = [2 * header.readUIntLE(0, 3), 2 * header.readUIntLE(3, 3)];
  const stated = { width: header.readUIntLE(6, 3) + 1, height: header.readUIntLE(9, 3) + 1 };
  const { width, height } = sameSize(stated, sizeOfPicture(chunksIn(content.subarray(FRAME_HEADER_BYTES))));
  const isInside = x + width <= canvas.width && y + height <= canvas.height;
  const isReserved = (header.readUInt8(15) & 0xfc) === 0;
  if (!isInside || !isReserved) throw new FileFault('contains a chunk ANMF that is not a frame of its canvas');
}

function sameSize(stated: Size, { width, height }: Size): Size {
  if (stated.width === width && stated.height === height) return { width, height };
  throw new FileFault('states two sizes of its picture');
}
