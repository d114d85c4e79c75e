/**
 * Writes an MP4 with one track of VP9, its index before its frames. The library's own muxer refuses VP9. Pure.
 * Sources: ISO/IEC 14496-12; "VP Codec ISO Media File Format Binding" 1.0; XMP Specification, part 3, section 1.1.8.
 */
import { MP4_XMP_UUID } from '../../../artefacts/provenance.ts';

export interface FilmTrack {
  width: number;
  height: number;
  framesPerSecond: number;
  /** One frame each, in the order of time. */
  frames: readonly { bytes: Uint8Array; isKey: boolean }[];
  /** XMP. */
  packet: string;
}

/** Of the codec string and of the box `vpcC`. */
export const VP9_LEVEL = 31;

/** Units of a frame's duration: a frame is this long. */
const FRAME_UNITS = 1_000;
/** Identity, in 16.16 and 2.30 fixed point. */
const MATRIX = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
/** BT.709 primaries, transfer and matrix, by their numbers in ISO/IEC 23091-2. */
const [PRIMARIES, TRANSFER, MATRIX_COEFFICIENTS] = [1, 1, 1];

export function writeMp4(track: FilmTrack): Uint8Array {
  const head = Buffer.concat([box('ftyp', text('isom'), u32(0x200), text('isomiso2mp41'))]);
  const provenance = box('uuid', MP4_XMP_UUID, Buffer.from(track.packet));
  const bytes = track.frames.reduce((sum, frame) => sum + frame.bytes.byteLength, 0);
  const before = head.length + moov(track, 0).length + provenance.length + 8;
  const header = Buffer.concat([u32(bytes + 8), text('mdat')]);
  return Buffer.concat([head, moov(track, before), provenance, header, ...track.frames.map((frame) => frame.bytes)]);
}

function moov(track: FilmTrack, firstFrameAt: number): Buffer {
  const { width, height, framesPerSecond, frames } = track;
  const timescale = framesPerSecond * FRAME_UNITS;
  const duration = frames.length * FRAME_UNITS;
  const movie = full(
    'mvhd',
    0,
    u32(0, 0, timescale, duration, 0x10000),
    u16(0x100, 0),
    u32(0, 0, ...MATRIX),
    zeros(24),
    u32(2),
  );
  // Flags: enabled, and shown in the film.
  const header = full(
    'tkhd',
    3,
    u32(0, 0, 1, 0, duration, 0, 0),
    u16(0, 0, 0, 0),
    u32(...MATRIX, width << 16, height << 16),
  );
  const mediaHeader = full('mdhd', 0, u32(0, 0, timescale, duration), u16(UNDETERMINED_LANGUAGE, 0));
  const handler = full('hdlr', 0, u32(0), text('vide'), zeros(12), text('\0'));
  const media = box(
    'mdia',
    mediaHeader,
    handler,
    box('minf', full('vmhd', 1, zeros(8)), dataInThisFile(), table(track, firstFrameAt)),
  );
  return box('moov', movie, box('trak', header, media));
}

/** `und` in three letters of five bits. */
const UNDETERMINED_LANGUAGE = 0x55c4;

function dataInThisFile(): Buffer {
  return box('dinf', full('dref', 0, u32(1), full('url ', 1)));
}

function table({ width, height, frames }: FilmTrack, firstFrameAt: number): Buffer {
  const colour = box('colr', text('nclx'), u16(PRIMARIES, TRANSFER, MATRIX_COEFFICIENTS), u8(0));
  // Profile 0, 8 bits, 4:2:0 with chroma beside the first luma row, limited range.
  const depthAndChroma = (8 << 4) | (1 << 1);
  const codec = full(
    'vpcC',
    1 << 24,
    u8(0, VP9_LEVEL, depthAndChroma, PRIMARIES, TRANSFER, MATRIX_COEFFICIENTS),
    u16(0),
  );
  const entry = box(
    'vp09',
    zeros(6),
    u16(1),
    zeros(16),
    u16(width, height),
    // 72 dots per inch.
    u32(0x480000, 0x480000, 0),
    u16(1),
    zeros(32),
    u16(0x18, 0xffff),
    codec,
    colour,
  );
  const keys = frames.flatMap(({ isKey }, index) => (isKey ? [index + 1] : []));
  return box(
    'stbl',
    full('stsd', 0, u32(1), entry),
    full('stts', 0, u32(1, frames.length, FRAME_UNITS)),
    full('stss', 0, u32(keys.length, ...keys)),
    full('stsc', 0, u32(1, 1, frames.length, 1)),
    full('stsz', 0, u32(0, frames.length, ...frames.map(({ bytes }) => bytes.byteLength))),
    full('stco', 0, u32(1, firstFrameAt)),
  );
}

function box(type: string, ...content: Uint8Array[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(length), text(type), ...content]);
}

/** A box with version (the highest byte) and flags. */
function full(type: string, versionAndFlags: number, ...content: Uint8Array[]): Buffer {
  return box(type, u32(versionAndFlags), ...content);
}

function u8(...values: number[]): Buffer {
  return Buffer.from(values);
}

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

function zeros(bytes: number): Buffer {
  return Buffer.alloc(bytes);
}
