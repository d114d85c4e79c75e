/** Callers that this process has let in. Knowing one saves a look-up and decides nothing: docs/adr/0022 has the reasons. */
import type { CallerKey } from '../db/organizations/callers.ts';

export interface KnownCallers {
  /** By the hash of the secret that was presented. */
  find(secretHash: Uint8Array): CallerKey | undefined;
  remember(secretHash: Uint8Array, key: CallerKey): void;
  forget(secretHash: Uint8Array): void;
}

/** When there are more callers than `capacity`, those remembered first are forgotten first. */
export function createKnownCallers(capacity = 10_000): KnownCallers {
  const keys = new Map<string, CallerKey>();
  const nameOf = (secretHash: Uint8Array): string => Buffer.from(secretHash).toString('base64');
  return {
    find: (secretHash) => keys.get(nameOf(secretHash)),
    remember(secretHash, key) {
      const [oldest] = keys.keys();
      if (keys.size >= capacity && oldest !== undefined) keys.delete(oldest);
      keys.set(nameOf(secretHash), key);
    },
    forget(secretHash) {
      keys.delete(nameOf(secretHash));
    },
  };
}
