/**
 * Callers that this process has let in, by endpoint. Knowing one saves a look-up and decides nothing: docs/adr/0022 has the
 * reasons.
 */
import type { CallerKey } from '../db/organizations/callers.ts';

export interface KnownCallers {
  /** By the hash of the secret that was presented, and the endpoint's slug. */
  find(secretHash: Uint8Array, endpoint: string): CallerKey | undefined;
  remember(secretHash: Uint8Array, endpoint: string, key: CallerKey): void;
  forget(secretHash: Uint8Array, endpoint: string): void;
}

/** When there are more callers than `capacity`, those remembered first are forgotten first. */
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
