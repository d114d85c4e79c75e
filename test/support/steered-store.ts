import type { ObjectStore } from '../../src/platform/storage/object-store.ts';

/** Delegates to another store, except for the methods that a test overrides. The other store is resolved at each call. */
export function steeredStore(storeOf: () => ObjectStore, steered: Partial<ObjectStore>): ObjectStore {
  return {
    put: (key, content) => storeOf().put(key, content),
    get: (key) => storeOf().get(key),
    size: (key) => storeOf().size(key),
    stream: (key, range) => storeOf().stream(key, range),
    withFile: (key, use) => storeOf().withFile(key, use),
    remove: (key) => storeOf().remove(key),
    list: (prefix) => storeOf().list(prefix),
    removeUnfinished: (begunBefore, signal) => storeOf().removeUnfinished(begunBefore, signal),
    ...steered,
  };
}
