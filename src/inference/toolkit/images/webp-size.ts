/** Size of a WebP. Source: RFC 9649, section 2. */
import type { Size } from '../../../artefacts/inspection/size.ts';
import { sizeOf } from '../../../artefacts/inspection/webp.ts';

const PART_AT = 12;
const CONTENT_AT = 20;

/** The size in pixels that the first chunk states; null for anything but a WebP. */
export function webpSize(file: Uint8Array): Size | null {
  const bytes = Buffer.from(file.buffer, file.byteOffset, Math.min(file.byteLength, CONTENT_AT + 10));
  if (bytes.length < CONTENT_AT + 10 || bytes.toString('latin1', 8, PART_AT) !== 'WEBP') return null;
  const type = bytes.toString('latin1', PART_AT, PART_AT + 4);
  if (type !== 'VP8X') return sizeOf({ type, content: bytes.subarray(CONTENT_AT) });
  return { width: bytes.readUIntLE(CONTENT_AT + 4, 3) + 1, height: bytes.readUIntLE(CONTENT_AT + 7, 3) + 1 };
}
