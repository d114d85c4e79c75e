import { createHash, hash as digest } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import { fileTypeFromBuffer } from 'file-type';
import type { ObjectStore } from '../platform/storage/object-store.ts';

/** Enough for every signature that file-type knows. */
const SNIFFED_BYTES = 4100;

/** Measured while content is stored. */
export interface MeteredContent {
  bytes: number;
  /** Hex. */
  sha256: string;
  /** As sniffed from the content; null for an unknown format. */
  mediaType: string | null;
}

export interface ContentLimit {
  bytes: number;
  /** Thrown when the content is longer. */
  error: Error;
}

/** A pass-through stream that measures its content. */
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

/** Measures content in memory. */
export async function measureContent(content: Uint8Array): Promise<MeteredContent> {
  return {
    bytes: content.length,
    sha256: digest('sha256', content),
    mediaType: await sniffMediaType(content),
  };
}

/**
 * Stores content and measures it. A source that exceeds the limit leaves no object, and neither does one that breaks off,
 * unless `keepsBroken`: then what arrived is stored.
 */
export async function meteredPut(
  store: ObjectStore,
  key: string,
  source: Readable,
  limit?: ContentLimit,
  { keepsBroken = false } = {},
): Promise<MeteredContent> {
  const meter = createContentMeter(limit);
  // The source may fail while it is read, or may have failed before.
  finished(source, { writable: false }).catch((error: Error) =>
    keepsBroken ? meter.stream.end() : meter.stream.destroy(error),
  );
  source.pipe(meter.stream);
  try {
    await store.put(key, meter.stream);
  } catch (error) {
    // Drain the rest of the request: the connection carries the response and the next request.
    source.unpipe(meter.stream).resume();
    throw error;
  }
  return meter.read();
}

async function sniffMediaType(content: Uint8Array): Promise<string | null> {
  const mediaType = (await fileTypeFromBuffer(content.subarray(0, SNIFFED_BYTES)))?.mime ?? null;
  // An animated PNG is read as a PNG of its first frame, like every moving picture here.
  return mediaType === 'image/apng' ? 'image/png' : mediaType;
}
