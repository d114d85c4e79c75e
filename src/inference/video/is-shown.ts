import type { EncodedVideoChunk } from '@napi-rs/webcodecs';

/** VP8 has frames that only serve others, in packets of their own: RFC 6386, section 9.1. Other codecs hide such frames. */
export function isShown(chunk: EncodedVideoChunk, codec: string): boolean {
  if (codec !== 'vp8') return true;
  const content = new Uint8Array(chunk.byteLength);
  chunk.copyTo(content);
  return ((content[0] ?? 0) & 0x10) !== 0;
}
