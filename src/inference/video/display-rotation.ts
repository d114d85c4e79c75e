/**
 * Reads a video's display rotation. A phone stores the sensor's picture, and a rotation matrix in the track header: ISO/IEC
 * 14496-12, `tkhd`. The demuxer does not expose it. WebM has no such field that recorders use.
 */
import type { FileHandle } from 'node:fs/promises';

export type Rotation = 0 | 90 | 180 | 270;

interface Box {
  type: string;
  /** Byte range of its content in the file. */
  start: number;
  end: number;
}

/** Most boxes read per level: a file may claim any number. */
const MOST_BOXES = 1_000;

/** Degrees clockwise of the first video track; 0 if the file does not state it. */
export async function readRotation(file: FileHandle, bytes: number): Promise<Rotation> {
  const [movie] = await boxesOf(file, { type: '', start: 0, end: bytes }, 'moov');
  if (!movie) return 0;
  for (const track of await boxesOf(file, movie, 'trak')) {
    if ((await handlerOf(file, track)) !== 'vide') continue;
    const [header] = await boxesOf(file, track, 'tkhd');
    return header ? rotationOf(await read(file, header.start, header.end - header.start)) : 0;
  }
  return 0;
}

async function handlerOf(file: FileHandle, track: Box): Promise<string> {
  const [media] = await boxesOf(file, track, 'mdia');
  const [handler] = media ? await boxesOf(file, media, 'hdlr') : [];
  // Version and flags, a QuickTime field, then the kind of the track.
  return handler ? (await read(file, handler.start + 8, 4)).toString('latin1') : '';
}

/** Version 1 has times of 64 bits. The matrix is a, b, u, c, d, v, x, y, w; a and b are the rotated x-axis. */
function rotationOf(header: Buffer): Rotation {
  const at = header[0] === 1 ? 52 : 40;
  if (header.length < at + 8) return 0;
  const quarters = Math.round(Math.atan2(header.readInt32BE(at + 4), header.readInt32BE(at)) / (Math.PI / 2));
  return (((quarters + 4) % 4) * 90) as Rotation;
}

async function boxesOf(file: FileHandle, parent: Box, type: string): Promise<Box[]> {
  const found: Box[] = [];
  let position = parent.start;
  for (let seen = 0; seen < MOST_BOXES && position + 8 <= parent.end; seen += 1) {
    const header = await read(file, position, 16);
    if (header.length < 8) break;
    let size = header.readUInt32BE(0);
    let headerBytes = 8;
    if (size === 1 && header.length === 16) {
      size = Number(header.readBigUInt64BE(8));
      headerBytes = 16;
    }
    if (size === 0) size = parent.end - position;
    if (size < headerBytes) break;
    const end = Math.min(position + size, parent.end);
    if (header.toString('latin1', 4, 8) === type) found.push({ type, start: position + headerBytes, end });
    position += size;
  }
  return found;
}

/** At most 128 bytes: every field read here lies within that distance of its box's start. */
async function read(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(bytes, 128)), { position });
  return buffer.subarray(0, bytesRead);
}
