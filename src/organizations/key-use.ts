/** Records when keys were last used without a write per request: uses are buffered in memory and written in batches. */
import type { Logger } from 'pino';
import type { MikroORM } from '../platform/database/orm.ts';
import { recordKeyUse } from './api-keys-store.ts';

export interface KeyUse {
  /** Notes a request with the key. */
  note(keyId: string, at: Date): void;
  /** Writes the noted uses. If that fails they stay noted. */
  flush(): Promise<void>;
  /** Stops the timer and flushes. */
  close(): Promise<void>;
}

interface KeyUseOptions {
  orm: MikroORM;
  logger: Logger;
  /** Without it, only `flush` and `close` write. */
  flushIntervalMs?: number;
  /** Keys buffered at most. Uses of further keys are dropped until the next write. */
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
      logger.warn({ err, keys: uses.size }, 'key uses not written yet');
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
