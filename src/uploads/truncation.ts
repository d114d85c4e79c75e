/**
 * Whether a file ends before its format says it does. Reads headers and the end marker, never the pixels, so a file that is
 * damaged elsewhere passes.
 */

/** Random access to a stored file. */
export interface FileReader {
  /** Size of the file. */
  bytes: number;
  /** Bytes `start` up to, but not including, `end`. */
  read(start: number, end: number): Promise<Buffer>;
}

/** Read at once when searching for an end marker. */
const WINDOW_BYTES = 256 * 1024;
/** Segments or boxes before the pixels or frames; real files have fewer than a hundred. */
const MAXIMUM_HEADERS = 2_000;

const JPEG_START_OF_SCAN = 0xda;
const JPEG_END = Buffer.from('ffd9', 'hex');
/** The last chunk, which is empty: length, type and CRC. */
const PNG_END = Buffer.from('0000000049454e44ae426082', 'hex');
const EBML_SEGMENT = 0x18538067;

/** False for a media type whose end cannot be told. */
export function isTruncated(mediaType: string, file: FileReader): Promise<boolean> {
  return (CHECKS[mediaType] ?? (async () => false))(file);
}

const CHECKS: Readonly<Record<string, (file: FileReader) => Promise<boolean>>> = {
  'image/jpeg': isJpegTruncated,
  'image/png': async (file) => !(await containsAfter(file, 0, PNG_END)),
  'image/webp': async (file) => 8 + (await header(file, 0, 8)).readUInt32LE(4) > file.bytes,
  'image/avif': (file) => isBoxFileTruncated(file, ['meta']),
  'video/mp4': (file) => isBoxFileTruncated(file, ['moov', 'moof']),
  'video/quicktime': (file) => isBoxFileTruncated(file, ['moov', 'moof']),
  'video/webm': isWebmTruncated,
};

/** A thumbnail in the header has an end marker of its own, so only the bytes after the header count. */
async function isJpegTruncated(file: FileReader): Promise<boolean> {
  let at = 2;
  for (let segments = 0; segments < MAXIMUM_HEADERS && at + 4 <= file.bytes; segments += 1) {
    const segment = await header(file, at, 4);
    if (segment[0] !== 0xff) return false;
    // Any number of fill bytes may precede a marker.
    if (segment[1] === 0xff) {
      at += 1;
      continue;
    }
    if (segment[1] === JPEG_START_OF_SCAN) return !(await containsAfter(file, at, JPEG_END));
    at += 2 + segment.readUInt16BE(2);
  }
  return at + 4 > file.bytes;
}

/** ISO base media: each box states its length, and one of `required` holds the description of the content. */
async function isBoxFileTruncated(file: FileReader, required: readonly string[]): Promise<boolean> {
  let isDescribed = false;
  let at = 0;
  for (let boxes = 0; at < file.bytes && boxes < MAXIMUM_HEADERS; boxes += 1) {
    if (file.bytes - at < 8) return true;
    const box = await header(file, at, 16);
    const short = box.readUInt32BE(0);
    isDescribed ||= required.includes(box.toString('latin1', 4, 8));
    // 0: to the end of the file. 1: the length follows in 64 bits.
    if (short === 0) return !isDescribed;
    at += short === 1 ? Number(box.readBigUInt64BE(8)) : short;
    if (short > 1 && short < 8) return false;
  }
  return at > file.bytes || !isDescribed;
}

/** Matroska: a segment may be of unknown length, as live recorders write it. */
async function isWebmTruncated(file: FileReader): Promise<boolean> {
  let at = 0;
  for (let elements = 0; elements < 10 && at < file.bytes; elements += 1) {
    const element = await header(file, at, 12);
    const { value: id, length: idBytes } = variableInteger(element, 0, true);
    const { value: size, length: sizeBytes, isUnknown } = variableInteger(element, idBytes, false);
    if (idBytes === 0 || sizeBytes === 0 || isUnknown) return false;
    at += idBytes + sizeBytes + size;
    if (id === EBML_SEGMENT) return at > file.bytes;
  }
  return at > file.bytes;
}

/** RFC 8794, section 4: the leading zero bits of the first byte state the length in bytes. */
function variableInteger(bytes: Buffer, at: number, keepsMarker: boolean) {
  const first = bytes[at] ?? 0;
  const length = first === 0 ? 0 : Math.clz32(first) - 23;
  const mask = keepsMarker ? 0xff : 0xff >> length;
  let value = first & mask;
  let isUnknown = (first & mask) === mask;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index] ?? 0;
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value, length, isUnknown };
}

/** `length` bytes from `at`, with zeros behind the end of the file. */
async function header(file: FileReader, at: number, length: number): Promise<Buffer> {
  const found = await file.read(at, Math.min(at + length, file.bytes));
  return Buffer.concat([found], length);
}

/** Searches from the end, where the marker is in any whole file. */
async function containsAfter(file: FileReader, start: number, marker: Buffer): Promise<boolean> {
  for (let end = file.bytes; end > start; end -= WINDOW_BYTES) {
    const from = Math.max(start, end - WINDOW_BYTES);
    // The marker may lie across two windows.
    const window = await file.read(from, Math.min(end + marker.length - 1, file.bytes));
    if (window.includes(marker)) return true;
  }
  return false;
}
