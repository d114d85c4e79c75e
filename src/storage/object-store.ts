import type { Readable } from 'node:stream';

/** Where uploads, inputs and artefacts lie. Keys are relative paths of `[a-zA-Z0-9._/-]`, never chosen by callers. */
export interface ObjectStore {
  /** Writes a whole object; a failure leaves nothing behind. Overwrites. */
  put(key: string, content: Readable | Uint8Array): Promise<void>;
  /** @throws ObjectNotFoundError */
  get(key: string): Promise<Uint8Array>;
  /** In bytes. @throws ObjectNotFoundError */
  size(key: string): Promise<number>;
  /** The whole object, or a range of it. @throws ObjectNotFoundError */
  stream(key: string, range?: ByteRange): Promise<Readable>;
  /**
   * Lets a program that reads files by their path read an object: calls `use` with a path that is good until it ends. The
   * file is not to be changed. @throws ObjectNotFoundError
   */
  withFile<Result>(key: string, use: (path: string) => Promise<Result>): Promise<Result>;
  /** Removing what is not there is not an error. */
  remove(key: string): Promise<void>;
  /** Keys under a prefix with the time each was last written. */
  list(prefix: string): AsyncIterable<{ key: string; modifiedAt: Date }>;
}

/** Bytes `start` to `end` of an object, both included, as in HTTP. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Whose an object is: the id that follows the folder, before the number of a file or the name of a part. */
export function ownerOf(key: string): string {
  return /^[^/]+\/([^/.]+)/.exec(key)?.[1] ?? '';
}

/** Where a store may keep what it is writing; what a crash left there is swept with the orphans. */
export const PARTIAL_PREFIX = 'partial';

export class ObjectNotFoundError extends Error {
  override readonly name = 'ObjectNotFoundError';
}
