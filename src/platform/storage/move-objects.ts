import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { ObjectNotFoundError, type ObjectStore, StoreUnavailableError } from './object-store.ts';

/** The folders of the store. */
const FOLDERS = ['uploads', 'jobs', 'artefacts'];
/** Objects on their way; each needs two connections to a bucket and the memory of its parts. */
const MOVED_AT_ONCE = 8;
const MOST_PROBLEMS = 100;

export interface MoveReport {
  /** Objects that were copied, and their bytes. */
  copied: number;
  bytes: number;
  /** Objects that the target had already, with the same content. */
  present: number;
  /** Objects that the service removed meanwhile. */
  removedMeanwhile: number;
  /** Objects that could not be moved. */
  left: number;
  /** The first of those, and why. */
  problems: { key: string; reason: string }[];
}

interface MoveOptions {
  from: ObjectStore;
  to: ObjectStore;
  /** Whether the objects stay in `from` too. */
  keeps?: boolean;
  onProgress?: (report: Readonly<MoveReport>) => void;
}

/**
 * Moves every object, while the service runs on a layered store of the two: it writes to `to` and reads both. Each copy is
 * read back and compared by SHA-256 before the original goes, so a move may be interrupted and repeated at any time. What the
 * service removes in the moment of its copy may stay in `to`, for its sweeper to find: to take copies back would lose objects
 * where two moves run at once.
 * @throws StoreUnavailableError when a store is away
 */
export async function moveObjects({ from, to, keeps = false, onProgress }: MoveOptions): Promise<MoveReport> {
  const report: MoveReport = { copied: 0, bytes: 0, present: 0, removedMeanwhile: 0, left: 0, problems: [] };

  const move = async (key: string): Promise<void> => {
    const before = await digestAt(to, key);
    const wanted = before ? await digestAt(from, key) : await copy(from, to, key);
    if (wanted === null) {
      report.removedMeanwhile += 1;
      return;
    }
    if (before && before.sha256 !== wanted.sha256) throw new Error('other content has this key already');
    if (!before) {
      const copied = await digestAt(to, key);
      if (copied === null) {
        report.removedMeanwhile += 1;
        return;
      }
      if (copied.sha256 !== wanted.sha256) throw new Error('the copy differs from the original');
      report.copied += 1;
      report.bytes += wanted.bytes;
    } else {
      report.present += 1;
    }
    if (!keeps) await from.remove(key);
  };

  const keys = keysOf(from);
  let isOver = false;
  const lane = async () => {
    for await (const key of keys) {
      if (isOver) return;
      await move(key).catch((error: unknown) => {
        isOver ||= error instanceof StoreUnavailableError;
        if (isOver) throw error;
        report.left += 1;
        if (report.problems.length === MOST_PROBLEMS) return;
        report.problems.push({ key, reason: error instanceof Error ? error.message : String(error) });
      });
      onProgress?.(report);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: MOVED_AT_ONCE }, lane));
  for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason;
  return report;
}

async function* keysOf(store: ObjectStore): AsyncGenerator<string> {
  for (const folder of FOLDERS) for await (const { key } of store.list(folder)) yield key;
}

interface Digest {
  bytes: number;
  /** Hex. */
  sha256: string;
}

/** Null when there is no such object. */
async function digestAt(store: ObjectStore, key: string): Promise<Digest | null> {
  const meter = createMeter();
  return orNull(async () => {
    for await (const _ of meter.through(await store.stream(key)));
    return meter.read();
  });
}

/** Returns what was copied; null when there is no such object. */
async function copy(from: ObjectStore, to: ObjectStore, key: string): Promise<Digest | null> {
  const meter = createMeter();
  return orNull(async () => {
    const source = await from.stream(key);
    try {
      await to.put(key, Readable.from(meter.through(source), { objectMode: false }));
    } finally {
      // A put may fail before it reads anything.
      source.destroy();
    }
    return meter.read();
  });
}

function createMeter() {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    async *through(content: Readable): AsyncGenerator<Buffer> {
      for await (const chunk of content as AsyncIterable<Buffer>) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    },
    read: (): Digest => ({ bytes, sha256: hash.digest('hex') }),
  };
}

async function orNull<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return null;
    throw error;
  }
}
