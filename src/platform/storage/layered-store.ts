import { ObjectNotFoundError, type ObjectStore } from './object-store.ts';
import { withTemporaryFile } from './temporary-file.ts';

/**
 * Two stores as one, while objects are moved from one to the other: the first is written to, both are read. An object that
 * is moved during a call is found, because it is in the first before it leaves the second.
 */
export function createLayeredStore(first: ObjectStore, second: ObjectStore): ObjectStore {
  async function find<Result>(look: (store: ObjectStore) => Promise<Result>): Promise<Result> {
    for (const store of [first, second]) {
      try {
        return await look(store);
      } catch (error) {
        if (!(error instanceof ObjectNotFoundError)) throw error;
      }
    }
    return look(first);
  }

  const stream: ObjectStore['stream'] = (key, range) => find((store) => store.stream(key, range));

  return {
    put: (key, content) => first.put(key, content),
    get: (key) => find((store) => store.get(key)),
    size: (key) => find((store) => store.size(key)),
    stream,
    // Not by the path in the second: the file may be moved before it is opened.
    withFile: async (key, use) => withTemporaryFile(await stream(key), use),
    async remove(key) {
      // In this order a copy that a move makes between the two goes as well.
      await second.remove(key);
      await first.remove(key);
    },
    async *list(prefix) {
      yield* first.list(prefix);
      yield* second.list(prefix);
    },
    async removeUnfinished(begunBefore, signal) {
      await first.removeUnfinished(begunBefore, signal);
      await second.removeUnfinished(begunBefore, signal);
    },
  };
}
