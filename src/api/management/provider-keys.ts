/**
 * The identity provider's public keys (JSON Web Key Set, RFC 7517). jose's own remote set is not used: it refuses
 * everybody once its copy is old and the provider is away, and does not pause between fetches that fail.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';

/** The keys at hand do not tell whether the token is good, and cannot be renewed yet. */
export class ProviderKeysUnavailableError extends Error {
  override readonly name = 'ProviderKeysUnavailableError';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number, cause: unknown) {
    super('the keys of the identity provider cannot be renewed yet', { cause });
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Milliseconds. */
export const PROVIDER_KEYS = {
  /** Between two fetches, whether they succeed or not, and however many tokens name a key that is not there. */
  cooldownMs: 30_000,
  /** After which a copy is renewed while it is used. */
  renewAfterMs: 300_000,
  /** After which a copy is renewed before it is used, so that a key that was removed works no longer. */
  staleAfterMs: 600_000,
  /** After which a copy is not used any more, although the provider is away. */
  expiresAfterMs: 86_400_000,
  timeoutMs: 5_000,
} as const;

interface Copy {
  resolve: JWTVerifyGetKey;
  fetchedAtMs: number;
}

/**
 * @throws ProviderKeysUnavailableError when a token is to be verified and there are no keys to do it with, or none of its
 *   name and the provider could not be asked since: the key may be a new one
 */
export function createProviderKeys(url: string, clock: () => Date = () => new Date()): JWTVerifyGetKey {
  let copy: Copy | null = null;
  let attemptedAtMs = Number.NEGATIVE_INFINITY;
  let failure: unknown = null;
  let fetching: Promise<void> | null = null;

  const ageMs = (sinceMs: number) => clock().getTime() - sinceMs;

  async function fetchOnce(): Promise<void> {
    const startedAtMs = clock().getTime();
    try {
      copy = { resolve: createLocalJWKSet(await fetchKeys(url)), fetchedAtMs: startedAtMs };
      failure = null;
    } catch (error) {
      failure = error;
    }
  }

  /** Shares the fetch under way, or makes one unless the last was too short a time ago. Never fails. */
  function renew(): Promise<void> {
    if (fetching) return fetching;
    if (ageMs(attemptedAtMs) < PROVIDER_KEYS.cooldownMs) return Promise.resolve();
    attemptedAtMs = clock().getTime();
    fetching = fetchOnce().finally(() => {
      fetching = null;
    });
    return fetching;
  }

  function unavailable(cause: unknown): ProviderKeysUnavailableError {
    const waitMs = Math.max(PROVIDER_KEYS.cooldownMs - ageMs(attemptedAtMs), 0);
    return new ProviderKeysUnavailableError(Math.max(Math.ceil(waitMs / 1000), 1), cause);
  }

  function usable(): Copy {
    if (copy && ageMs(copy.fetchedAtMs) < PROVIDER_KEYS.expiresAfterMs) return copy;
    throw unavailable(failure);
  }

  return async (header, token) => {
    const askedAtMs = clock().getTime();
    const copyAgeMs = copy ? ageMs(copy.fetchedAtMs) : Number.POSITIVE_INFINITY;
    if (copyAgeMs >= PROVIDER_KEYS.renewAfterMs) {
      const renewal = renew();
      // While the provider is away nobody waits for it whose token the old copy can tell.
      const mayGoOn = copyAgeMs < PROVIDER_KEYS.expiresAfterMs && failure !== null;
      if (copyAgeMs >= PROVIDER_KEYS.staleAfterMs && !mayGoOn) await renewal;
    }
    try {
      return await usable().resolve(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await renew();
    }
    const renewed = usable();
    try {
      return await renewed.resolve(header, token);
    } catch (error) {
      const isSettled = !(error instanceof errors.JWKSNoMatchingKey) || renewed.fetchedAtMs >= askedAtMs;
      // A copy from before the request does not know a key that was published since.
      throw isSettled ? error : unavailable(failure ?? error);
    }
  };
}

async function fetchKeys(url: string): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { Accept: 'application/jwk-set+json, application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(PROVIDER_KEYS.timeoutMs),
  });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  const set = (await response.json()) as Partial<JSONWebKeySet> | null;
  // An empty set is a provider in trouble: nobody could sign in any more.
  if (!Array.isArray(set?.keys) || set.keys.length === 0) throw new Error(`${url} answers no key`);
  return { keys: set.keys };
}
