/** JPEG, baseline and progressive, as browsers show it. Sources: ITU-T T.81, annex B; ITU-T T.871 (JFIF), clause 10. */
import { isProvenancePacket, JPEG_XMP_NAME } from '../provenance.ts';
import { BYTES_AFTER_END, FileFault, holdToBound, TRUNCATED, take } from './file-fault.ts';
import type { Size } from './size.ts';

/** Fill byte: any number may precede a marker. */
const FILL = 0xff;
const START_OF_IMAGE = 0xffd8;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
const START_OF_FRAME = [0xc0, 0xc1, 0xc2];
const JFIF = 0xe0;
const XMP = 0xe1;
const PROFILE = 0xe2;
const COMMENT = 0xfe;

/** Layouts of the allowed segments, by marker. */
const LAYOUTS = new Map<number, (content: Buffer) => boolean>([
  ...START_OF_FRAME.map((marker) => [marker, isFrame] as const),
  [0xc4, areHuffmanTables],
  [0xdb, areQuantizationTables],
  [0xdd, (content) => content.length === 2],
  [START_OF_SCAN, isScan],
  [JFIF, isJfif],
  [0xee, isAdobe],
]);

/** @throws FileFault */
export function examineJpeg(bytes: Buffer): Size {
  if (take(bytes, 0, 2).readUInt16BE() !== START_OF_IMAGE) throw new FileFault('is not a JPEG');
  let size: Size | null = null;
  let hasScan = false;
  let hasProvenance = false;
  let at = 2;
  for (let segments = 0; ; segments += 1) {
    holdToBound(segments);
    if (take(bytes, at, 2).readUInt8() !== 0xff) throw new FileFault('has bytes between its segments');
    while (bytes[at + 1] === FILL) at += 1;
    const marker = take(bytes, at, 2).readUInt8(1);
    if (marker === END_OF_IMAGE) break;
    const content = contentOf(bytes, at, marker);
    const isFrameHeader = START_OF_FRAME.includes(marker);
    if (isFrameHeader && size) throw new FileFault('contains a second picture');
    if (isFrameHeader) size = { width: content.readUInt16BE(3), height: content.readUInt16BE(1) };
    if (marker === XMP) {
      if (hasProvenance || size) throw new FileFault(`contains ${nameOf(marker)} out of order`);
      hasProvenance = true;
    }
    at += 4 + content.length;
    if (marker === START_OF_SCAN) {
      hasScan = true;
      at = endOfScan(bytes, at);
    }
  }
  if (at + 2 !== bytes.length) throw new FileFault(BYTES_AFTER_END);
  if (!size || !hasScan) throw new FileFault('contains no picture');
  return size;
}

function contentOf(bytes: Buffer, at: number, marker: number): Buffer {
  const layout = LAYOUTS.get(marker);
  if (!layout && marker !== XMP) throw new FileFault(`contains ${nameOf(marker)}`);
  const length = take(bytes, at + 2, 2).readUInt16BE();
  const content = take(bytes, at + 4, Math.max(length, 2) - 2);
  if (!layout) {
    if (!isProvenance(content)) throw new FileFault(`contains ${nameOf(marker)}`);
    return content;
  }
  // JFIF comes first.
  const isInPlace = marker !== JFIF || at === 2;
  if (!isInPlace || !layout(content)) throw new FileFault(`has unexpected content in ${nameOf(marker)}`);
  return content;
}

function nameOf(marker: number): string {
  if (marker === PROFILE) return 'a colour profile (a segment APP2)';
  if (marker === COMMENT) return 'a comment';
  const isOfApplication = marker >= 0xe0 && marker <= 0xef;
  return `a segment ${isOfApplication ? `APP${marker - 0xe0}` : marker.toString(16)}`;
}

/** Position of the marker after a scan's data. Within the data, 0xFF is followed by 0 or a restart marker. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = from; at + 1 < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1] ?? 0;
    const isData = next === 0 || (next >= 0xd0 && next <= 0xd7);
    if (!isData) return at;
  }
  throw new FileFault(TRUNCATED);
}

/** 8 bits per sample, with a known number of lines. */
function isFrame(content: Buffer): boolean {
  const components = content[5] ?? 0;
  if (![1, 3, 4].includes(components) || content.length !== 6 + 3 * components) return false;
  return content[0] === 8 && content.readUInt16BE(1) > 0 && content.readUInt16BE(3) > 0;
}

function isScan(content: Buffer): boolean {
  const components = content[0] ?? 0;
  return components >= 1 && components <= 4 && content.length === 4 + 2 * components;
}

function areHuffmanTables(content: Buffer): boolean {
  let at = 0;
  while (at + 17 <= content.length) {
    const symbols = content.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0);
    if (symbols > 256) return false;
    at += 17 + symbols;
  }
  return at === content.length;
}

function areQuantizationTables(content: Buffer): boolean {
  let at = 0;
  while (at < content.length) at += 1 + ((content[at] ?? 0) >> 4 === 0 ? 64 : 128);
  return at === content.length;
}

/** What the service says of its own pictures. */
function isProvenance(content: Buffer): boolean {
  const name = Buffer.from(JPEG_XMP_NAME, 'latin1');
  return content.subarray(0, name.length).equals(name) && isProvenancePacket(content.subarray(name.length));
}

/** Version and density, without a thumbnail. */
function isJfif(content: Buffer): boolean {
  if (content.length !== 14 || content.toString('latin1', 0, 5) !== 'JFIF\0') return false;
  const [major = 0, unit = 0, thumbnailWidth, thumbnailHeight] = [content[5], content[7], content[12], content[13]];
  return major === 1 && unit <= 2 && thumbnailWidth === 0 && thumbnailHeight === 0;
}

/** Adobe's colour transform. Source: ITU-T T.872, clause 6.5.3. */
function isAdobe(content: Buffer): boolean {
  if (content.length !== 12 || content.toString('latin1', 0, 5) !== 'Adobe') return false;
  const [version, flags, transform = 0] = [content.readUInt16BE(5), content.readUInt32BE(7), content[11]];
  return (version === 100 || version === 101) && flags === 0 && transform <= 2;
}
