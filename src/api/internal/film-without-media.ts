/** Reads an MP4 without its media data: all boxes except the contents of `mdat`, which may be gigabytes. */
import { buffer } from 'node:stream/consumers';
import { FileFault } from '../../artefacts/inspection/file-fault.ts';
import { readBoxHeader } from '../../artefacts/inspection/mp4.ts';
import { UPLOAD_IMAGE_BYTES } from '../../contracts/media-limits.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';

/** Same as an image. The tables of a video of several hours take a few megabytes. */
const MAXIMUM_BYTES = UPLOAD_IMAGE_BYTES;
/** A fragmented video has two boxes per fragment, and fragments last about a second. */
const MAXIMUM_BOXES = 20_000;
const HEADER_BYTES = 16;
const EMPTY_MEDIA = Buffer.from('\0\0\0\x08mdat', 'latin1');

/** @throws FileFault when the boxes do not fill the file exactly, or exceed the bounds */
export async function readFilmWithoutMedia(
  store: Pick<ObjectStore, 'stream'>,
  key: string,
  bytes: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let kept = 0;
  for (let at = 0; at < bytes; ) {
    const { type, length } = readBoxHeader(await read(at, HEADER_BYTES), bytes - at);
    const isMedia = type === 'mdat';
    kept += isMedia ? EMPTY_MEDIA.length : length;
    if (kept > MAXIMUM_BYTES || parts.length >= MAXIMUM_BOXES) throw new FileFault('has too much metadata');
    parts.push(isMedia ? EMPTY_MEDIA : await read(at, length));
    at += length;
  }
  return Buffer.concat(parts);

  async function read(start: number, length: number): Promise<Buffer> {
    return buffer(await store.stream(key, { start, end: Math.min(start + length, bytes) - 1 }));
  }
}
