/** Picture files written byte by byte: what no encoder would write, or only with metadata of its own choice. */
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

/** A file that plants this text leaks it wherever the text turns up again. */
export const MARKER = 'planted-by-the-test';

/** A picture of one colour, and files of it without metadata: what others are made of. */
export async function plainPictures(width: number, height: number) {
  const plain = sharp({ create: { width, height, channels: 3, background: '#3366cc' } });
  const [plainJpeg, plainPng, plainWebp] = await Promise.all([
    plain.clone().jpeg().toBuffer(),
    plain.clone().png().toBuffer(),
    plain.clone().webp().toBuffer(),
  ]);
  return { plain, plainJpeg, plainPng, plainWebp };
}

// PNG

export const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

export interface PngHeader {
  width: number;
  height: number;
  bitDepth?: 1 | 2 | 4 | 8 | 16;
  /** 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha. */
  colourType?: 0 | 2 | 3 | 4 | 6;
  interlaced?: boolean;
}

export function pngChunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), typed, uint32(crc32(typed))]);
}

/**
 * @param rows each row behind the byte of its filter
 * @param before chunks between the header and the pixels
 */
export function png(header: PngHeader, rows: Uint8Array, before: readonly Buffer[] = []): Buffer {
  return Buffer.concat([
    ...pngStart(header, before),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.of()),
  ]);
}

export function pngStart(header: PngHeader, before: readonly Buffer[] = []): Buffer[] {
  const { width, height, bitDepth = 8, colourType = 2, interlaced = false } = header;
  const details = Buffer.from([bitDepth, colourType, 0, 0, interlaced ? 1 : 0]);
  return [PNG_SIGNATURE, pngChunk('IHDR', Buffer.concat([uint32(width), uint32(height), details])), ...before];
}

/** Grey 8-bit rows of one level. */
export function greyRows(width: number, height: number, level = 128): Buffer {
  const rows = Buffer.alloc((width + 1) * height, level);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  return rows;
}

/** Puts chunks behind the header of a PNG. */
export function withPngChunks(file: Uint8Array, chunks: readonly Buffer[]): Buffer {
  const headerEnd = 8 + 25;
  return Buffer.concat([file.subarray(0, headerEnd), ...chunks, file.subarray(headerEnd)]);
}

// JPEG

export function jpegSegment(marker: number, data: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(0xff, marker), uint16(data.length + 2), data]);
}

/** Puts segments at the start of a JPEG. */
export function withJpegSegments(file: Uint8Array, segments: readonly Buffer[]): Buffer {
  return Buffer.concat([file.subarray(0, 2), ...segments, file.subarray(2)]);
}

export function exifSegment(tiff: Uint8Array): Buffer {
  return jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]));
}

/** A profile of any size, in as many segments as it takes. */
export function iccSegments(profile: Uint8Array): Buffer[] {
  const most = 65_519;
  const count = Math.ceil(profile.length / most);
  return Array.from({ length: count }, (_, index) => {
    const name = Buffer.from('ICC_PROFILE\0', 'latin1');
    const part = profile.subarray(index * most, (index + 1) * most);
    return jpegSegment(0xe2, Buffer.concat([name, Buffer.of((index + 1) & 0xff, count & 0xff), part]));
  });
}

/** The size that a JPEG claims, in its frame header, replaced. */
export function withJpegSize(file: Uint8Array, width: number, height: number): Buffer {
  const changed = Buffer.from(file);
  for (let at = 2; at < changed.length; at += 2 + changed.readUInt16BE(at + 2)) {
    const marker = changed.readUInt8(at + 1);
    if (marker >= 0xc0 && marker <= 0xc2) {
      changed.writeUInt16BE(height, at + 5);
      changed.writeUInt16BE(width, at + 7);
      return changed;
    }
  }
  throw new Error('the JPEG has no frame header');
}

/**
 * A black JPEG that is valid, progressive, and goes over all of its blocks once more with each of its scans, which take
 * few bytes each.
 * @param scans at most 883
 */
export function jpegOfManyScans(width: number, height: number, scans: number): Buffer {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const frame = Buffer.concat([Buffer.of(8), uint16(height), uint16(width), Buffer.of(1, 1, 0x11, 0)]);
  // One code of one bit: no difference from the block before.
  const scanned = [scan({ first: 0, high: 0, low: 0 }, '0'.repeat(blocks))];
  // One code of one bit and fourteen more: the next 32,767 blocks have nothing here.
  const nothing = `0${'1'.repeat(14)}`.repeat(Math.ceil(blocks / 32_767));
  for (let index = 0; index < scans - 1; index += 1) {
    const low = 13 - (index % 14);
    scanned.push(scan({ first: 1 + Math.floor(index / 14), high: low === 13 ? 0 : low + 1, low }, nothing));
  }
  return Buffer.concat([
    Buffer.of(0xff, 0xd8),
    jpegSegment(0xdb, Buffer.concat([Buffer.of(0), Buffer.alloc(64, 1)])),
    jpegSegment(0xc2, frame),
    jpegSegment(0xc4, Buffer.concat([Buffer.of(0x00, 1), Buffer.alloc(15), Buffer.of(0x00)])),
    jpegSegment(0xc4, Buffer.concat([Buffer.of(0x10, 1), Buffer.alloc(15), Buffer.of(0xe0)])),
    ...scanned,
    Buffer.of(0xff, 0xd9),
  ]);
}

function scan({ first, high, low }: { first: number; high: number; low: number }, bits: string): Buffer {
  const bytes = bits.match(/.{1,8}/g)?.map((byte) => Number.parseInt(byte.padEnd(8, '1'), 2)) ?? [];
  // A byte of ones is followed by zeros, so that it is not taken for a marker.
  const stuffed = bytes.flatMap((byte) => (byte === 0xff ? [byte, 0] : [byte]));
  return Buffer.concat([
    jpegSegment(0xda, Buffer.of(1, 1, 0x00, first, first, (high << 4) | low)),
    Buffer.from(stuffed),
  ]);
}

// WebP

export function webpChunk(type: string, data: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  return Buffer.concat([Buffer.from(type, 'latin1'), length, data, Buffer.alloc(data.length % 2)]);
}

export function webp(...chunks: readonly Buffer[]): Buffer {
  return webpChunk('RIFF', Buffer.concat([Buffer.from('WEBP', 'latin1'), ...chunks]));
}

/** @param flags 0x20 ICC, 0x10 alpha, 0x08 EXIF, 0x04 XMP, 0x02 animation */
export function webpCanvas(width: number, height: number, flags: number): Buffer {
  const data = Buffer.alloc(10);
  data.writeUInt8(flags);
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return webpChunk('VP8X', data);
}

// EXIF

interface TiffEntry {
  tag: number;
  /** 2 text, 3 16-bit, 4 32-bit, 5 fraction. */
  type: 2 | 3 | 4 | 5;
  count: number;
  /** Written behind the directory where it takes more than four bytes. */
  value: Buffer;
}

/** A TIFF block: the orientation, the marker as description, and a place on Earth. */
export function exifOf(orientation: number): Buffer {
  const text = Buffer.from(`${MARKER}\0`, 'latin1');
  const degrees = (...values: number[]) => Buffer.concat(values.flatMap((value) => [uint32LE(value), uint32LE(1)]));
  const gpsAt = 8 + directorySize(3, [text]);
  return Buffer.concat([
    Buffer.from('49492a0008000000', 'hex'),
    directory(8, [
      { tag: 0x010e, type: 2, count: text.length, value: text },
      { tag: 0x0112, type: 3, count: 1, value: uint16LE(orientation) },
      { tag: 0x8825, type: 4, count: 1, value: uint32LE(gpsAt) },
    ]),
    directory(gpsAt, [
      { tag: 1, type: 2, count: 2, value: Buffer.from('N\0', 'latin1') },
      { tag: 2, type: 5, count: 3, value: degrees(52, 31, 12) },
      { tag: 3, type: 2, count: 2, value: Buffer.from('E\0', 'latin1') },
      { tag: 4, type: 5, count: 3, value: degrees(13, 24, 36) },
    ]),
  ]);
}

/** A TIFF block whose directory claims more than any file holds, and leads back to itself. */
export function exifBomb(): Buffer {
  const entry = (tag: number, type: number, count: number, value: number) =>
    Buffer.concat([uint16LE(tag), uint16LE(type), uint32LE(count), uint32LE(value)]);
  const entries = [
    entry(0x010e, 2, 0xffffffff, 8),
    entry(0x0112, 3, 0xffffffff, 8),
    entry(0x8769, 4, 1, 8),
    entry(0x8825, 4, 1, 8),
    entry(0xa005, 4, 1, 8),
    ...Array.from({ length: 5_000 }, (_, index) => entry(0x9000 + index, 7, 0x7fffffff, 8)),
  ];
  return Buffer.concat([Buffer.from('49492a0008000000', 'hex'), uint16LE(entries.length), ...entries, uint32LE(8)]);
}

function directorySize(entries: number, values: readonly Buffer[]): number {
  return 2 + 12 * entries + 4 + values.reduce((sum, value) => sum + (value.length > 4 ? value.length : 0), 0);
}

function directory(at: number, entries: readonly TiffEntry[]): Buffer {
  let valueAt = at + 2 + 12 * entries.length + 4;
  const written = entries.map(({ tag, type, count, value }) => {
    const isInline = value.length <= 4;
    const field = isInline ? Buffer.concat([value, Buffer.alloc(4 - value.length)]) : uint32LE(valueAt);
    if (!isInline) valueAt += value.length;
    return Buffer.concat([uint16LE(tag), uint16LE(type), uint32LE(count), field]);
  });
  const values = entries.flatMap(({ value }) => (value.length > 4 ? [value] : []));
  return Buffer.concat([uint16LE(entries.length), ...written, uint32LE(0), ...values]);
}

// Archives

/** An archive of one file, not compressed, as `zip -0` writes it. */
export function zip(name: string, content: Uint8Array): Buffer {
  const details = Buffer.concat([
    Buffer.from('0a000000000000000000', 'hex'),
    uint32LE(crc32(content)),
    uint32LE(content.length),
    uint32LE(content.length),
    uint16LE(name.length),
    uint16LE(0),
  ]);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), details, Buffer.from(name, 'latin1'), content]);
  const central = Buffer.concat([
    Buffer.from('PK\x01\x02\x0a\x00', 'latin1'),
    details,
    Buffer.alloc(14),
    Buffer.from(name, 'latin1'),
  ]);
  const end = Buffer.concat([
    Buffer.from('PK\x05\x06\0\0\0\0\x01\0\x01\0', 'latin1'),
    uint32LE(central.length),
    uint32LE(local.length),
    uint16LE(0),
  ]);
  return Buffer.concat([local, central, end]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint16LE(value: number): Buffer {
  return uint16(value).swap16();
}

function uint32LE(value: number): Buffer {
  return uint32(value).swap32();
}
