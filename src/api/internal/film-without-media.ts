/** What an MP4 says beside its media: all of it but the media itself, which may have gigabytes. */
import { buffer } from 'node:stream/consumers';
import { UPLOAD_IMAGE_BYTES } from '../../contracts/media-limits.ts';
import { FileFault } from '../../domain/made-files/file-fault.ts';
import { readBoxHeader } from '../../domain/made-files/mp4.ts';
import type { ObjectStore } from '../../storage/object-store.ts';

/** As much as a picture: the tables of a film of hours have a few. */
const MOST_BYTES = UPLOAD_IMAGE_BYTES;
/** A film in fragments of a second has two for each. */
const MOST_BOXES = 20_000;
const HEADER_BYTES = 16;
const EMPTY_MEDIA = Buffer.from('\0\0\0\x08mdat', 'latin1');

/** @throws FileFault when its boxes do not fill the file, or are beyond the bounds */
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
    if (kept > MOST_BYTES || parts.length >= MOST_BOXES) throw new FileFault('says too much beside its media');
    parts.push(isMedia ? EMPTY_MEDIA : await read(at, length));
    at += length;
  }
  return Buffer.concat(parts);

  async function read(start: number, length: number): Promise<Buffer> {
    return buffer(await store.stream(key, { start, end: Math.min(start + length, bytes) - 1 }));
  }
}
