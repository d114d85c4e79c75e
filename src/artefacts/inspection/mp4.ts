/**
 * MP4 with one video track, and sound. Sources: ISO/IEC 14496-12, clauses 4.2, 8 and 12; ISO/IEC 14496-14, clause 5.6.
 * The media data is not inspected, and encoders may name themselves and their tracks.
 */
import { isProvenancePacket, MP4_XMP_UUID } from '../provenance.ts';
import { FileFault, holdToBound, TRUNCATED, take } from './file-fault.ts';
import type { Size } from './size.ts';

interface Box {
  type: string;
  content: Buffer;
}

/** Allowed children of each box; '' is the file. */
const CHILDREN: Readonly<Record<string, readonly string[]>> = {
  '': ['ftyp', 'styp', 'sidx', 'moov', 'moof', 'mdat', 'mfra', 'free', 'skip', 'uuid'],
  moov: ['mvhd', 'trak', 'mvex', 'udta'],
  trak: ['tkhd', 'edts', 'mdia'],
  edts: ['elst'],
  mdia: ['mdhd', 'hdlr', 'minf'],
  minf: ['vmhd', 'smhd', 'hdlr', 'dinf', 'stbl'],
  dinf: ['dref'],
  stbl: ['stsd', 'stts', 'ctts', 'cslg', 'stss', 'stsc', 'stsz', 'stz2', 'stco', 'co64', 'sdtp', 'sgpd', 'sbgp'],
  mvex: ['mehd', 'trex'],
  moof: ['mfhd', 'traf'],
  traf: ['tfhd', 'tfdt', 'trun', 'sdtp', 'sgpd', 'sbgp'],
  mfra: ['tfra', 'mfro'],
  udta: ['meta'],
  meta: ['hdlr', 'ilst', 'free'],
  // The encoder's name.
  ilst: ['\xa9too'],
  '\xa9too': ['data'],
  // Sample entries of video and sound.
  vide: ['avcC', 'hvcC', 'av1C', 'vpcC', 'esds', 'pasp', 'btrt', 'colr', 'fiel', 'clap'],
  soun: ['esds', 'dOps', 'dfLa', 'dac3', 'dec3', 'btrt', 'chnl'],
};
/** Boxes that may repeat within their parent. */
const REPEATED = [
  'styp',
  'sidx',
  'moof',
  'mdat',
  'free',
  'skip',
  'trak',
  'trex',
  'traf',
  'trun',
  'sgpd',
  'sbgp',
  'tfra',
];
/** Bytes before a box's children. */
const HEADER_BYTES: Readonly<Record<string, number>> = { meta: 4 };
/** Bytes before a sample entry's children. */
const SAMPLE_HEADER_BYTES = { vide: 78, soun: 28 };
/** A `dref` with one entry: the media is in this file. */
const MEDIA_IN_THIS_FILE = Buffer.from('00000000000000010000000c75726c2000000001', 'hex');
const NAME_BYTES = 64;

/** Sample tables: bytes of the header, offset of the entry count, bytes of an entry. */
const TABLES: Readonly<Record<string, { header: number; countAt: number; entry: number }>> = {
  stts: { header: 8, countAt: 4, entry: 8 },
  ctts: { header: 8, countAt: 4, entry: 8 },
  stss: { header: 8, countAt: 4, entry: 4 },
  stsc: { header: 8, countAt: 4, entry: 12 },
  stco: { header: 8, countAt: 4, entry: 4 },
  co64: { header: 8, countAt: 4, entry: 8 },
};
const FIXED_BYTES: Readonly<Record<string, readonly number[]>> = {
  mvhd: [100, 112],
  tkhd: [84, 96],
  mdhd: [24, 36],
  vmhd: [12],
  smhd: [8],
  mehd: [8, 12],
  trex: [24],
  mfhd: [8],
  tfdt: [8, 12],
  mfro: [8],
  cslg: [24, 44],
  pasp: [8],
  btrt: [12],
  fiel: [2],
  clap: [32],
};

/** @throws FileFault */
export function examineMp4(bytes: Buffer): Size {
  const boxes = boxesIn(bytes, '');
  const film = boxes.find(({ type }) => type === 'moov');
  const hasMedia = boxes.some(({ type }) => type === 'mdat');
  if (boxes[0]?.type !== 'ftyp' || !film || !hasMedia) throw new FileFault('contains no film');
  for (const box of boxes) examineBox(box);
  const sizes = boxesIn(film.content, 'moov').flatMap((box) => (box.type === 'trak' ? examineTrack(box) : []));
  const [size] = sizes;
  if (!size || sizes.length > 1) throw new FileFault(`has ${sizes.length} tracks of pictures, where one is allowed`);
  return size;
}

/**
 * @param bytes from the start of a box; 16 are enough
 * @param left bytes up to the end of its parent
 * @throws FileFault when it does not end within its parent
 */
export function readBoxHeader(bytes: Buffer, left: number): { type: string; headerBytes: number; length: number } {
  const type = take(bytes, 0, 8).toString('latin1', 4, 8);
  const short = bytes.readUInt32BE();
  const headerBytes = short === 1 ? 16 : 8;
  // Size 0: the media data extends to the end of the file.
  const stated = short === 0 && type === 'mdat' ? left : short;
  const length = short === 1 ? Number(take(bytes, 8, 8).readBigUInt64BE()) : stated;
  if (length < headerBytes || length > left) throw new FileFault(TRUNCATED);
  return { type, headerBytes, length };
}

/** Boxes cover the content to its last byte. */
function boxesIn(bytes: Buffer, parent: string): Box[] {
  const boxes: Box[] = [];
  for (let at = HEADER_BYTES[parent] ?? 0; at < bytes.length; ) {
    const { type, headerBytes, length } = readBoxHeader(bytes.subarray(at), bytes.length - at);
    const isRepeated = !REPEATED.includes(type) && boxes.some((box) => box.type === type);
    if (isRepeated || !CHILDREN[parent]?.includes(type)) {
      throw new FileFault(`contains ${nameOf(type)}${parent && ` in ${nameOf(parent)}`}`);
    }
    holdToBound(boxes.length);
    boxes.push({ type, content: bytes.subarray(at + headerBytes, at + length) });
    at += length;
  }
  return boxes;
}

function examineBox({ type, content }: Box): void {
  if (type === 'mdat' || type === 'stsd') return;
  if (CHILDREN[type]) {
    for (const box of boxesIn(content, type)) examineBox(box);
    return;
  }
  if (!isAsDefined(type, content)) throw new FileFault(`has unexpected content in ${nameOf(type)}`);
}

function isAsDefined(type: string, content: Buffer): boolean {
  const table = TABLES[type];
  if (table) return isTable(content, table);
  switch (type) {
    case 'free':
    case 'skip':
      return content.every((byte) => byte === 0);
    case 'uuid':
      return isProvenance(content);
    case 'dref':
      return content.equals(MEDIA_IN_THIS_FILE);
    case 'hdlr':
      return content.length >= 24 && content.length <= 24 + NAME_BYTES;
    case 'data':
      return content.length >= 8 && content.length <= 8 + NAME_BYTES;
    case 'colr':
      // Numeric profiles only: an embedded profile could contain text.
      return ['nclx', 'nclc'].includes(content.toString('latin1', 0, 4)) && content.length <= 11;
    case 'elst':
      return isTable(content, { header: 8, countAt: 4, entry: content[0] === 1 ? 20 : 12 });
    case 'stsz': {
      const isOfOneSize = content.length >= 8 && content.readUInt32BE(4) > 0;
      return isTable(content, { header: 12, countAt: 8, entry: isOfOneSize ? 0 : 4 });
    }
    default:
      // The rest are codec parameters and fragment offsets.
      return FIXED_BYTES[type]?.includes(content.length) ?? true;
  }
}

/** The packet that the service itself writes, and nothing else. */
function isProvenance(content: Buffer): boolean {
  const { length } = MP4_XMP_UUID;
  return content.subarray(0, length).equals(MP4_XMP_UUID) && isProvenancePacket(content.subarray(length));
}

function isTable(content: Buffer, { header, countAt, entry }: { header: number; countAt: number; entry: number }) {
  return content.length >= header && content.length === header + entry * content.readUInt32BE(countAt);
}

/** Returns the size of a video track, and nothing for sound. */
function examineTrack({ content }: Box): Size[] {
  const boxes = boxesIn(content, 'trak');
  const media = boxesIn(only(boxes, 'mdia'), 'mdia');
  const handler = only(media, 'hdlr').toString('latin1', 8, 12);
  if (handler !== 'vide' && handler !== 'soun') throw new FileFault(`contains a track of ${nameOf(handler)}`);
  const table = boxesIn(only(boxesIn(only(media, 'minf'), 'minf'), 'stbl'), 'stbl');
  const descriptions = only(table, 'stsd');
  const entries = take(descriptions, 0, 8).readUInt32BE(4);
  const entry = take(descriptions, 8, 8);
  const isOne = entries === 1 && entry.readUInt32BE() === descriptions.length - 8;
  if (!isOne) throw new FileFault('has unexpected content in "stsd"');
  const headerBytes = SAMPLE_HEADER_BYTES[handler];
  const description = take(descriptions, 16, headerBytes);
  for (const box of boxesIn(descriptions.subarray(16 + headerBytes), handler)) examineBox(box);
  if (handler === 'soun') return [];
  const [width, height] = [description.readUInt16BE(24), description.readUInt16BE(26)];
  return [isTurnedByAQuarter(only(boxes, 'tkhd')) ? { width: height, height: width } : { width, height }];
}

function only(boxes: readonly Box[], type: string): Buffer {
  const box = boxes.find((each) => each.type === type);
  if (!box) throw new FileFault(`has no ${nameOf(type)}`);
  return box.content;
}

function isTurnedByAQuarter(header: Buffer): boolean {
  const matrixAt = header[0] === 1 ? 52 : 40;
  return header.readInt32BE(matrixAt) === 0 && header.readInt32BE(matrixAt + 16) === 0;
}

function nameOf(type: string): string {
  return `"${type.replace(/[^\x20-\x7e\xa9]/g, '?')}"`;
}
