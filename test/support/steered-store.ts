import type { ObjectStore } from '../../src/storage/object-store.ts';

/** A store that does as another does, but for what a test steers. The other is asked for at each call. */
export function steeredStore(storeOf: () => ObjectStore, steered: Partial<ObjectStore>): ObjectStore {
  return {
    put: (key, content) => storeOf().put(key, content),
    get: (key) => storeOf().get(key),
    size: (key) => storeOf().size(key),
    stream: (key, range) => storeOf().stream(key, range),
    withFile: (key, use) => storeOf().withFile(key, use),
    remove: (key) => storeOf().remove(key),
    list: (prefix) => storeOf().list(prefix),
    ...steered,
  };
}
