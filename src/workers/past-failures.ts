/** Keeps a sweep going past what fails: otherwise each pass would end at the same place and never reach the rest. */
import type { Logger } from 'pino';
import { isStoreAway, type ObjectStore } from '../platform/storage/object-store.ts';

/**
 * Takes the steps of a pass in their order, also after one that failed. A store that is away ends the pass, so steps that
 * do without it come first. @throws the first failure, at the end
 */
export async function takeEach(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
      if (isStoreAway(error)) break;
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Removes objects during one pass, past those that cannot be removed. */
export function createRemover(store: ObjectStore) {
  const failures = { objects: 0, first: null as unknown };
  return {
    /** Returns the keys of those that are gone. @throws when the store is away: the others would wait as long */
    async remove(keys: readonly string[]): Promise<string[]> {
      const removed: string[] = [];
      for (const key of keys) {
        try {
          await store.remove(key);
          removed.push(key);
        } catch (error) {
          if (isStoreAway(error)) throw error;
          failures.first ??= error;
          failures.objects += 1;
        }
      }
      return removed;
    },
    /** At the end of the pass: one line, however many objects are left. */
    logFailures(logger: Logger): void {
      const { objects, first: err } = failures;
      if (objects > 0) logger.warn({ objects, err }, 'objects not removed; the next pass tries again');
    },
  };
}
