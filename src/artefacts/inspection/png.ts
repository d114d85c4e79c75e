/** Still PNG. Source: W3C, Portable Network Graphics (third edition), clauses 5 and 11. */
import { crc32 } from 'node:zlib';
import { isProvenancePacket, PNG_XMP_HEADER } from '../provenance.ts';
import { BYTES_AFTER_END, FileFault, holdToBound, take } from './file-fault.ts';
import type { Size } from './size.ts';

const SIGNATURE = '\x89PNG\r\n\x1a\n';
const PALETTE = 3;
/** By colour type: sample depths in bits; bytes of `sBIT`, `bKGD` and `tRNS`. A palette has one `tRNS` byte per colour. */
const COLOUR_TYPES: Readonly<Record<number, { depths: number[]; sBIT: number; bKGD: number; tRNS: number }>> = {
  0: { depths: [1, 2, 4, 8, 16], sBIT: 1, bKGD: 2, tRNS: 2 },
  2: { depths: [8, 16], sBIT: 3, bKGD: 6, tRNS: 6 },
  [PALETTE]: { depths: [1, 2, 4, 8], sBIT: 3, bKGD: 1, tRNS: 256 },
  4: { depths: [8, 16], sBIT: 2, bKGD: 2, tRNS: 0 },
  6: { depths: [8, 16], sBIT: 4, bKGD: 6, tRNS: 0 },
};
/** Bytes of the chunks of fixed size. */
const FIXED_BYTES: Readonly<Record<string, number>> = { gAMA: 4, cHRM: 32, sRGB: 1, cICP: 4, pHYs: 9, IEND: 0 };

/** @throws FileFault */
export function examinePng(bytes: Buffer): Size {
  if (bytes.toString('latin1', 0, 8) !== SIGNATURE) throw new FileFault('is not a PNG');
  const header = chunkAt(bytes, 8);
  if (header.type !== 'IHDR' || !isHeader(header.content)) throw new FileFault('is not a PNG');
  const colourType = header.content.readUInt8(9);
  const seen = new Set(['IHDR']);
  let { end } = header;
  for (let chunks = 0; ; chunks += 1) {
    holdToBound(chunks);
    const chunk = chunkAt(bytes, end);
    const { type, content } = chunk;
    if (type === 'iCCP') throw new FileFault('contains a colour profile (a chunk iCCP)');
    // Each chunk precedes the pixels and appears once.
    const isLate = seen.has('IDAT') && type !== 'IDAT' && type !== 'IEND';
    const isRepeated = seen.has(type) && type !== 'IDAT';
    if (isLate || isRepeated) throw new FileFault(`contains a chunk ${type} out of order`);
    if (!isOfPicture(type, content, colourType)) throw new FileFault(`contains a chunk ${type}`);
    seen.add(type);
    end = chunk.end;
    if (type !== 'IEND') continue;
    if (end !== bytes.length) throw new FileFault(BYTES_AFTER_END);
    if (!seen.has('IDAT')) throw new FileFault('contains no picture');
    return { width: header.content.readUInt32BE(0), height: header.content.readUInt32BE(4) };
  }
}

function chunkAt(bytes: Buffer, at: number): { type: string; content: Buffer; end: number } {
  const length = take(bytes, at, 8).readUInt32BE();
  const typed = take(bytes, at + 4, 4 + length);
  const type = typed.toString('latin1', 0, 4).replace(/[^A-Za-z]/g, '?');
  const end = at + 12 + length;
  if (take(bytes, end - 4, 4).readUInt32BE() !== crc32(typed)) throw new FileFault(`has a damaged chunk ${type}`);
  return { type, content: typed.subarray(4), end };
}

function isHeader(content: Buffer): boolean {
  if (content.length !== 13 || content.readUInt32BE(0) === 0 || content.readUInt32BE(4) === 0) return false;
  const [depth = 0, colourType = 0, compression, filter, interlace = 0] = content.subarray(8);
  return (
    Boolean(COLOUR_TYPES[colourType]?.depths.includes(depth)) && compression === 0 && filter === 0 && interlace <= 1
  );
}

function isOfPicture(type: string, content: Buffer, colourType: number): boolean {
  const { length } = content;
  const bytes = COLOUR_TYPES[colourType];
  switch (type) {
    case 'IDAT':
      return true;
    case 'iTXt':
      return isProvenance(content);
    case 'PLTE':
      return length % 3 === 0 && length <= 3 * 256;
    case 'tRNS':
      return colourType === PALETTE ? length <= 256 : length === bytes?.tRNS;
    case 'sBIT':
    case 'bKGD':
      return length === bytes?.[type];
    default:
      return length === FIXED_BYTES[type];
  }
}

/** What the service says of its own pictures. */
function isProvenance(content: Buffer): boolean {
  const header = Buffer.from(PNG_XMP_HEADER, 'latin1');
  return content.subarray(0, header.length).equals(header) && isProvenancePacket(content.subarray(header.length));
}
