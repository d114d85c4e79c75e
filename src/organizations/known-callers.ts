/** Caches callers that this process has admitted, by endpoint. It saves a look-up and decides nothing (ADR 0022). */
import type { CallerKey } from './callers-store.ts';

export interface KnownCallers {
  /** By the hash of the presented secret and the endpoint's slug. */
  find(secretHash: Uint8Array, endpoint: string): CallerKey | undefined;
  remember(secretHash: Uint8Array, endpoint: string, key: CallerKey): void;
  forget(secretHash: Uint8Array, endpoint: string): void;
}

/** Beyond `capacity`, the oldest entries are evicted. */
export function createKnownCallers(capacity = 10_000): KnownCallers {
  const keys = new Map<string, CallerKey>();
  const nameOf = (secretHash: Uint8Array, endpoint: string) =>
    `${Buffer.from(secretHash).toString('base64')} ${endpoint}`;
  return {
    find: (secretHash, endpoint) => keys.get(nameOf(secretHash, endpoint)),
    remember(secretHash, endpoint, key) {
      const [oldest] = keys.keys();
      if (keys.size >= capacity && oldest !== undefined) keys.delete(oldest);
      keys.set(nameOf(secretHash, endpoint), key);
    },
    forget(secretHash, endpoint) {
      keys.delete(nameOf(secretHash, endpoint));
    },
  };
}
