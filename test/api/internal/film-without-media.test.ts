/** A video of gigabytes is inspected without reading its media data. */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readFilmWithoutMedia } from '../../../src/api/internal/film-without-media.ts';
import { FileFault } from '../../../src/artefacts/inspection/file-fault.ts';
import { inspectArtefact } from '../../../src/artefacts/inspection/inspect-artefact.ts';
import type { ByteRange } from '../../../src/platform/storage/object-store.ts';
import { box } from '../../artefacts/inspection/boxes.ts';

const small = readFileSync(
  new URL('../../../src/endpoints/render.video/fixtures/walk-around-1-1.mp4', import.meta.url),
);
const mediaAt = small.indexOf('mdat') - 4;
const beside = small.subarray(0, mediaAt);
const MEDIA_BYTES = 3_000_000_000;

/** A file that keeps only its start and end in memory, with zeros in between. */
function storeOf(start: Buffer, zeros: number, end: Buffer) {
  let readBytes = 0;
  const byteAt = (at: number) => start[at] ?? end[at - start.length - zeros] ?? 0;
  const read = (range: ByteRange) => {
    const length = range.end - range.start + 1;
    readBytes += length;
    return Buffer.from(Array.from({ length }, (_, index) => byteAt(range.start + index)));
  };
  return {
    bytes: start.length + zeros + end.length,
    store: {
      stream: async (_key: string, range?: ByteRange) => Readable.from(range ? [read(range)] : []),
    },
    readBytes: () => readBytes,
  };
}

/** A box header with a 64-bit length. */
function longHeader(type: string, content: number): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(1);
  header.write(type, 4, 'latin1');
  header.writeBigUInt64BE(BigInt(16 + content), 8);
  return header;
}

const examine = async ({ store, bytes }: ReturnType<typeof storeOf>) =>
  inspectArtefact(await readFilmWithoutMedia(store, 'key', bytes), 'video/mp4');

test('a film is read without its media data', async () => {
  const large = storeOf(Buffer.concat([beside, longHeader('mdat', MEDIA_BYTES)]), MEDIA_BYTES, Buffer.of());
  expect(await examine(large)).toEqual({ width: 320, height: 320 });
  expect(large.readBytes()).toBeLessThan(10_000);
});

test('boxes after the media data of a film are found', async () => {
  const start = Buffer.concat([beside, longHeader('mdat', MEDIA_BYTES)]);
  for (const behind of [box('uuid', Buffer.from('GPS 50N')), Buffer.from('GPS'), Buffer.from('GPS 50.1 8.2E')]) {
    await expect(examine(storeOf(start, MEDIA_BYTES, behind))).rejects.toThrow(FileFault);
  }
});

test('media data shorter than stated is refused as truncated, and media data up to the end of the file is accepted', async () => {
  const short = storeOf(Buffer.concat([beside, longHeader('mdat', MEDIA_BYTES)]), MEDIA_BYTES - 1, Buffer.of());
  await expect(examine(short)).rejects.toThrow('The file is truncated.');
  const open = storeOf(Buffer.concat([beside, Buffer.from('\0\0\0\0mdat', 'latin1')]), 1_000, Buffer.of());
  expect(await examine(open)).toEqual({ width: 320, height: 320 });
});

test('a film with metadata beyond the bounds is refused', async () => {
  const long = storeOf(Buffer.concat([beside, longHeader('free', MEDIA_BYTES)]), MEDIA_BYTES, small.subarray(mediaAt));
  await expect(examine(long)).rejects.toThrow('The file has too much metadata.');
  const boxes = Buffer.concat(Array.from({ length: 30_000 }, () => box('free')));
  const many = storeOf(Buffer.concat([beside, boxes, small.subarray(mediaAt)]), 0, Buffer.of());
  await expect(examine(many)).rejects.toThrow('The file has too much metadata.');
});
