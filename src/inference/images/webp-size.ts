/** Size of a WebP. Sources: RFC 9649, section 2 (the container), RFC 6386, section 9.1 (VP8). */

interface Size {
  width: number;
  height: number;
}

const PART_AT = 12;
const CONTENT_AT = 20;

/** As the first part of the file states it, in pixels; null of anything but a WebP. */
export function webpSize(file: Uint8Array): Size | null {
  const bytes = Buffer.from(file.buffer, file.byteOffset, Math.min(file.byteLength, CONTENT_AT + 10));
  if (bytes.length < CONTENT_AT + 10 || bytes.toString('latin1', 8, PART_AT) !== 'WEBP') return null;
  switch (bytes.toString('latin1', PART_AT, PART_AT + 4)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(CONTENT_AT + 4, 3) + 1, height: bytes.readUIntLE(CONTENT_AT + 7, 3) + 1 };
    case 'VP8L': {
      // Behind a signature, 14 bits for each.
      const sides = bytes.readUInt32LE(CONTENT_AT + 1);
      return { width: (sides & 0x3fff) + 1, height: ((sides >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      // Behind the tag of the frame and its start code, 14 bits for each.
      return {
        width: bytes.readUInt16LE(CONTENT_AT + 6) & 0x3fff,
        height: bytes.readUInt16LE(CONTENT_AT + 8) & 0x3fff,
      };
    default:
      return null;
  }
}
