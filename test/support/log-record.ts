/** A logger whose lines a test can read and wait for. */
import type { Logger } from 'pino';
import { createLogger } from '../../src/platform/logging/logger.ts';

export interface LogRecord {
  logger: Logger;
  lines: readonly string[];
  /** The first matching line, past or future. @throws when none arrives in time. */
  waitFor(fits: (line: Record<string, unknown>) => boolean, timeoutMs?: number): Promise<Record<string, unknown>>;
}

export function recordLog(): LogRecord {
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  const output = {
    write(line: string) {
      lines.push(line);
      for (const watcher of watchers) watcher();
    },
  };
  const logger = createLogger('test', 'trace', { output });
  return {
    logger,
    lines,
    waitFor(fits, timeoutMs = 45_000) {
      return new Promise((resolve, reject) => {
        const settle = (action: () => void) => {
          clearTimeout(timer);
          watchers.delete(look);
          action();
        };
        const timer = setTimeout(
          () => settle(() => reject(new Error(`no such line was logged:\n${lines.slice(-20).join('')}`))),
          timeoutMs,
        );
        let looked = 0;
        const look = () => {
          for (; looked < lines.length; looked += 1) {
            const line = JSON.parse(lines[looked] ?? '{}') as Record<string, unknown>;
            if (fits(line)) return settle(() => resolve(line));
          }
        };
        watchers.add(look);
        look();
      });
    },
  };
}
