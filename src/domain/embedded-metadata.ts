/**
 * What a file says besides its picture or film: where and when it was taken, on what, by whom. Files that the service makes
 * say nothing of it. Only the structure is walked, nothing is decoded.
 */

/** Names the first thing in a file that tells, or could tell, more than pixels, sound and colours; null where none is. */
export function findMetadata(file: Uint8Array, mediaType: string): string | null {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  switch (mediaType) {
    case 'image/jpeg':
      return inJpeg(bytes);
    case 'image/png':
      return inPng(bytes);
    case 'image/webp':
      return inWebp(bytes);
    case 'video/mp4':
      return inMp4(bytes);
    default:
      // Such as the pictures in a PDF, which lie there as they are.
      return textIn(bytes, ['Exif\0\0', 'http://ns.adobe.com/xap/', 'Photoshop 3.0']);
  }
}

const NO_END = 'no end';
const BEHIND_THE_END = 'bytes behind its end';

/** Source: ITU-T T.81, annex B. */
function inJpeg(bytes: Buffer): string | null {
  let at = 2;
  while (at + 2 <= bytes.length) {
    if (bytes[at] !== 0xff) return 'something that is no segment';
    const marker = bytes.readUInt8(at + 1);
    const isFill = marker === 0xff;
    if (isFill) {
      at += 1;
      continue;
    }
    const isEndOfImage = marker === 0xd9;
    if (isEndOfImage) return at + 2 === bytes.length ? null : BEHIND_THE_END;
    // Frames and their tables, scans; JFIF, a colour profile, and Adobe's statement of the colours.
    const isOfPicture =
      (marker >= 0xc0 && marker <= 0xcf) || (marker >= 0xda && marker <= 0xdd) || [0xe0, 0xe2, 0xee].includes(marker);
    if (!isOfPicture) return `segment ${marker.toString(16)}`;
    if (at + 4 > bytes.length) break;
    at += 2 + bytes.readUInt16BE(at + 2);
    const isStartOfScan = marker === 0xda;
    if (isStartOfScan) at = endOfScan(bytes, at);
  }
  return NO_END;
}

/** Where the marker behind the data of a scan is: in the data, 0xFF is followed by 0 or by a restart. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 2)) {
    const next = bytes[at + 1] ?? 0;
    const isData = next === 0 || (next >= 0xd0 && next <= 0xd7);
    if (!isData) return at;
  }
  return bytes.length;
}

const PNG_CHUNKS = ['IHDR', 'PLTE', 'tRNS', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'sBIT', 'bKGD', 'pHYs', 'IDAT', 'IEND'];

/** Source: ISO/IEC 15948, clause 5. */
function inPng(bytes: Buffer): string | null {
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (!PNG_CHUNKS.includes(type)) return `chunk ${type}`;
    if (type === 'IEND') return at + 12 === bytes.length ? null : BEHIND_THE_END;
  }
  return NO_END;
}

const WEBP_CHUNKS = ['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ICCP', 'ANIM', 'ANMF'];

/** Source: RFC 9649, section 2. */
function inWebp(bytes: Buffer): string | null {
  for (let at = 12; at + 8 <= bytes.length; ) {
    const type = bytes.toString('latin1', at, at + 4);
    if (!WEBP_CHUNKS.includes(type)) return `chunk ${type}`;
    const length = bytes.readUInt32LE(at + 4);
    at += 8 + length + (length % 2);
  }
  return null;
}

/** Source: ISO/IEC 14496-12, clause 4.2. */
function inMp4(bytes: Buffer): string | null {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const short = bytes.readUInt32BE(at);
    const length = short === 1 && at + 16 <= bytes.length ? Number(bytes.readBigUInt64BE(at + 8)) : short;
    const end = length === 0 ? bytes.length : at + Math.max(length, 8);
    const isMedia = bytes.toString('latin1', at + 4, at + 8) === 'mdat';
    const found = isMedia ? null : textIn(bytes.subarray(at, end), ['\xa9xyz', 'loci', 'com.apple.quicktime', 'Exif']);
    if (found) return found;
    at = end;
  }
  return null;
}

function textIn(bytes: Buffer, texts: readonly string[]): string | null {
  return texts.find((text) => bytes.includes(text, 0, 'latin1')) ?? null;
}
