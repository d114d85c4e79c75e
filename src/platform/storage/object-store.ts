import type { Readable } from 'node:stream';

/** Stores uploads, inputs and artefacts. Keys are relative paths of `[a-zA-Z0-9._/-]`, never chosen by customers. */
export interface ObjectStore {
  /** Writes a whole object, durable when this resolves, and replaces an existing one. A failure leaves nothing behind. */
  put(key: string, content: Readable | Uint8Array): Promise<void>;
  /** @throws ObjectNotFoundError */
  get(key: string): Promise<Uint8Array>;
  /** In bytes. @throws ObjectNotFoundError */
  size(key: string): Promise<number>;
  /** The whole object, or a range of it. @throws ObjectNotFoundError */
  stream(key: string, range?: ByteRange): Promise<Readable>;
  /**
   * Calls `use` with a path to the object, for programs that read files by path. The path is valid until `use` ends; the
   * file must not be changed. @throws ObjectNotFoundError
   */
  withFile<Result>(key: string, use: (path: string) => Promise<Result>): Promise<Result>;
  /** Removing a missing object is not an error. */
  remove(key: string): Promise<void>;
  /** Keys under a prefix, with the time of each one's last write. */
  list(prefix: string): AsyncIterable<{ key: string; modifiedAt: Date }>;
}

/** Bytes `start` to `end` of an object, both included, as in HTTP. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The owner of an object: the id that follows the folder, before the number of a file or the name of a part. */
export function ownerOf(key: string): string {
  return /^[^/]+\/([^/.]+)/.exec(key)?.[1] ?? '';
}

/** Where a store may keep unfinished objects; the sweeper removes those that a crash left there. */
export const PARTIAL_PREFIX = 'partial';

export class ObjectNotFoundError extends Error {
  override readonly name = 'ObjectNotFoundError';
}
