import type { Readable } from 'node:stream';

/** Stores uploads, inputs and artefacts. Keys are relative paths of `[a-zA-Z0-9._/-]`, never chosen by customers. */
export interface ObjectStore {
  /**
   * Writes a whole object, durable when this resolves, and replaces an existing one. A failure leaves nothing behind, except
   * where the reply of a remote store was lost: then the object may be there, and the sweeper removes it.
   */
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
  /**
   * Keys under a prefix, with the time of each one's last write. Foreign files, whose names are no keys, are left out.
   * A folder that cannot be read hides no other: the listing fails only after the rest.
   */
  list(prefix: string): AsyncIterable<{ key: string; modifiedAt: Date }>;
  /** Removes what crashes left of writes that began before a time. */
  removeUnfinished(begunBefore: Date, signal?: AbortSignal): Promise<void>;
  /**
   * A URL at which anybody may read the object for some minutes, straight from the store; absent in a store that has none,
   * or is not to show them.
   */
  linkTo?: (key: string, headers: { contentType: string }) => Promise<string>;
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

/** Where a store keeps what is not an object yet. */
export const PARTIAL_PREFIX = 'partial';

const KEY = /^[a-zA-Z0-9_-][a-zA-Z0-9._-]*(?:\/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)*$/;

export function isKey(name: string): boolean {
  return KEY.test(name);
}

export function assertKey(key: string): void {
  if (!isKey(key)) throw new Error(`"${key}" is not a storage key`);
}

export class ObjectNotFoundError extends Error {
  override readonly name = 'ObjectNotFoundError';
}

/** The store is away, overloaded or full: the same call may succeed later. */
export class StoreUnavailableError extends Error {
  override readonly name: string = 'StoreUnavailableError';
}

/** The store refuses its caller: wrong credentials, a missing permission, no such bucket. Only an operator can mend it. */
export class StoreRefusedError extends StoreUnavailableError {
  override readonly name = 'StoreRefusedError';
}

/** Whether every call would fail now, and not only that for one object. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof StoreUnavailableError && !(error instanceof StoreRefusedError);
}
