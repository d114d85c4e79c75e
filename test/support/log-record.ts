/** A logger whose lines a test can read and wait for. */
import type { Logger } from 'pino';
import { createLogger } from '../../src/logging.ts';

export interface LogRecord {
  logger: Logger;
  lines: readonly string[];
  /** The first line, past or to come, which fits. @throws when none comes in time. */
  waitFor(fits: (line: Record<string, unknown>) => boolean, timeoutMs?: number): Promise<Record<string, unknown>>;
}

export function recordLog(): LogRecord {
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  const logger = createLogger('test', 'trace', {
    write(line: string) {
      lines.push(line);
      for (const watcher of watchers) watcher();
    },
  });
  return {
    logger,
    lines,
    waitFor(fits, timeoutMs = 20_000) {
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
