import type { EncodedVideoChunk } from '@napi-rs/webcodecs';

/** Whether a packet holds a visible frame. VP8 has packets of reference-only frames: RFC 6386, section 9.1. */
export function isShown(chunk: EncodedVideoChunk, codec: string): boolean {
  if (codec !== 'vp8') return true;
  const content = new Uint8Array(chunk.byteLength);
  chunk.copyTo(content);
  return ((content[0] ?? 0) & 0x10) !== 0;
}
