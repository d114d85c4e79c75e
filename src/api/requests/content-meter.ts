import { createHash, hash as digest } from 'node:crypto';
import { Transform } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';

/** Enough for every signature that file-type knows. */
const SNIFFED_BYTES = 4100;

/** What passed through a meter. */
export interface MeteredContent {
  bytes: number;
  /** Hex. */
  sha256: string;
  /** As its content says; null when it says nothing known. */
  mediaType: string | null;
}

export interface ContentLimit {
  bytes: number;
  /** What more content fails with. */
  error: Error;
}

/** Lets content pass, and tells afterwards how much it was and what. */
export function createContentMeter(limit?: ContentLimit): { stream: Transform; read(): Promise<MeteredContent> } {
  const hash = createHash('sha256');
  let bytes = 0;
  let head = Buffer.alloc(0);
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      if (limit && bytes > limit.bytes) return done(limit.error);
      if (head.length < SNIFFED_BYTES) head = Buffer.concat([head, chunk]).subarray(0, SNIFFED_BYTES);
      done(null, chunk);
    },
  });
  return {
    stream,
    async read() {
      return { bytes, sha256: hash.digest('hex'), mediaType: await sniffMediaType(head) };
    },
  };
}

/** The same of content that is in memory. */
export async function measureContent(content: Uint8Array): Promise<MeteredContent> {
  return {
    bytes: content.length,
    sha256: digest('sha256', content),
    mediaType: await sniffMediaType(content),
  };
}

async function sniffMediaType(content: Uint8Array): Promise<string | null> {
  const mediaType = (await fileTypeFromBuffer(content.subarray(0, SNIFFED_BYTES)))?.mime ?? null;
  // An animated PNG is a PNG whose first frame every reader of PNG shows, as of any picture that moves here.
  return mediaType === 'image/apng' ? 'image/png' : mediaType;
}
