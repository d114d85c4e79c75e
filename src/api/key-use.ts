/** When keys were last used, without a write a request: uses are noted in this process and written together. */
import type { Logger } from 'pino';
import { recordKeyUse } from '../db/organizations/api-keys.ts';
import type { MikroORM } from '../db/orm.ts';

export interface KeyUse {
  /** A request came with the key. */
  note(keyId: string, at: Date): void;
  /** Writes what was noted. What cannot be written is noted on. */
  flush(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
}

interface KeyUseOptions {
  orm: MikroORM;
  logger: Logger;
  /** Left out, only `flush` and `close` write. */
  flushIntervalMs?: number;
  /** Keys that are noted at once. Uses of others are dropped until the next write: the time of a later one will do. */
  capacity?: number;
}

export const KEY_USE_FLUSH_INTERVAL_MS = 60_000;
const CAPACITY = 50_000;

export function createKeyUse({ orm, logger, flushIntervalMs, capacity = CAPACITY }: KeyUseOptions): KeyUse {
  let noted = new Map<string, Date>();
  let writing: Promise<void> = Promise.resolve();

  const note = (keyId: string, at: Date) => {
    const known = noted.get(keyId);
    if (known ? known < at : noted.size < capacity) noted.set(keyId, at);
  };
  const write = async () => {
    const uses = noted;
    noted = new Map();
    if (uses.size === 0) return;
    try {
      await recordKeyUse(orm.em.fork(), uses);
    } catch (err) {
      for (const [keyId, at] of uses) note(keyId, at);
      logger.warn({ err, keys: uses.size }, 'uses of keys not written yet');
    }
  };
  const flush = () => {
    writing = writing.then(write);
    return writing;
  };
  const timer = flushIntervalMs === undefined ? undefined : setInterval(() => void flush(), flushIntervalMs);
  timer?.unref();

  return {
    note,
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
