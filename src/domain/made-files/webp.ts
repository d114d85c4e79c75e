/** WebP, still or moving. Sources: RFC 9649, sections 2 and 3; RFC 6386, section 9.1 (VP8). */
import { BEHIND_THE_END, FileFault, holdToBound, NO_END, take } from './file-fault.ts';
import type { Size } from './size.ts';

export interface Chunk {
  type: string;
  content: Buffer;
}

const OPACITY = 0x10;
const MOVES = 0x02;
const FRAME_HEADER_BYTES = 16;

/** @throws FileFault */
export function examineWebp(bytes: Buffer): Size {
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  if (!isWebp) throw new FileFault('is no WebP');
  const end = 8 + bytes.readUInt32LE(4);
  if (end !== bytes.length) throw new FileFault(end < bytes.length ? BEHIND_THE_END : NO_END);
  const [first, ...others] = chunksIn(bytes.subarray(12));
  if (first?.type !== 'VP8X') return sizeOfPicture(first ? [first, ...others] : []);

  const canvas = readCanvas(first.content);
  const [animation, ...frames] = others;
  if (!canvas.moves || animation?.type !== 'ANIM') return sameSize(canvas, sizeOfPicture(others));
  if (animation.content.length !== 6 || frames.length === 0) throw new FileFault('carries a chunk ANIM');
  for (const frame of frames) examineFrame(frame, canvas);
  return { width: canvas.width, height: canvas.height };
}

/** Everything is of a chunk to the last byte; the byte that makes its length even is 0. */
function chunksIn(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 0; at < bytes.length; ) {
    const header = take(bytes, at, 8);
    const type = header.toString('latin1', 0, 4).replace(/[^A-Za-z0-9 ]/g, '?');
    const length = header.readUInt32LE(4);
    const padding = take(bytes, at + 8, length + (length % 2)).subarray(length);
    if (padding.some((byte) => byte !== 0)) throw new FileFault(`carries something else behind the chunk ${type}`);
    holdToBound(chunks.length);
    chunks.push({ type, content: bytes.subarray(at + 8, at + 8 + length) });
    at += 8 + length + padding.length;
  }
  return chunks;
}

function readCanvas(content: Buffer): Size & { moves: boolean } {
  const [flags = 0] = content;
  const isAsDefined = content.length === 10 && (flags & ~(OPACITY | MOVES)) === 0 && content.readUIntLE(1, 3) === 0;
  if (!isAsDefined) throw new FileFault(`carries, or announces, a colour profile, EXIF or XMP`);
  return {
    width: content.readUIntLE(4, 3) + 1,
    height: content.readUIntLE(7, 3) + 1,
    moves: (flags & MOVES) !== 0,
  };
}

/** A picture takes one chunk; where it is lossy and not opaque, its opacity another before. */
function sizeOfPicture(chunks: readonly Chunk[]): Size {
  const [first, second] = chunks;
  const hasOpacity = first?.type === 'ALPH' && second?.type === 'VP8 ';
  const picture = hasOpacity ? second : first;
  const size = picture && sizeOf(picture);
  if (!size) throw new FileFault(first ? `carries a chunk ${first.type}` : 'shows no picture');
  const other = chunks[hasOpacity ? 2 : 1];
  if (other) throw new FileFault(`carries a chunk ${other.type}`);
  return size;
}

/** In pixels, of the chunk that holds a picture; its first 10 bytes are enough. Null of any other. */
export function sizeOf({ type, content }: Chunk): Size | null {
  // Behind the tag of the frame and its start code, 14 bits for each side.
  if (type === 'VP8 ' && content.length >= 10 && content.readUIntBE(3, 3) === 0x9d012a) {
    return { width: content.readUInt16LE(6) & 0x3fff, height: content.readUInt16LE(8) & 0x3fff };
  }
  if (type !== 'VP8L' || content.length < 5 || content[0] !== 0x2f) return null;
  // Behind a signature, 14 bits for each.
  const sides = content.readUInt32LE(1);
  return { width: (sides & 0x3fff) + 1, height: ((sides >>> 14) & 0x3fff) + 1 };
}

function examineFrame({ type, content }: Chunk, canvas: Size): void {
  if (type !== 'ANMF') throw new FileFault(`carries a chunk ${type}`);
  const header = take(content, 0, FRAME_HEADER_BYTES);
  const [x, y] = [2 * header.readUIntLE(0, 3), 2 * header.readUIntLE(3, 3)];
  const stated = { width: header.readUIntLE(6, 3) + 1, height: header.readUIntLE(9, 3) + 1 };
  const { width, height } = sameSize(stated, sizeOfPicture(chunksIn(content.subarray(FRAME_HEADER_BYTES))));
  const isInside = x + width <= canvas.width && y + height <= canvas.height;
  const isReserved = (header.readUInt8(15) & 0xfc) === 0;
  if (!isInside || !isReserved) throw new FileFault('carries a chunk ANMF that is no frame of it');
}

function sameSize(stated: Size, { width, height }: Size): Size {
  if (stated.width === width && stated.height === height) return { width, height };
  throw new FileFault('states two sizes of its picture');
}
