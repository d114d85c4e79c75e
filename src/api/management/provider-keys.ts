/**
 * Caches the identity provider's public keys (JSON Web Key Set, RFC 7517). jose's own remote set is unsuitable: it refuses
 * every token once its copy is stale and the provider is unreachable, and it does not pause between failed fetches.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';

/** The cached keys cannot verify the token and cannot be renewed yet. */
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
  /** Minimum time between two fetches, failed ones included, however many tokens name an unknown key. */
  cooldownMs: 30_000,
  /** Age at which a copy is renewed in the background. */
  renewAfterMs: 300_000,
  /** Age at which a copy is renewed before use, so that a removed key stops working. */
  staleAfterMs: 600_000,
  /** Age at which a copy is discarded even if the provider is unreachable. */
  expiresAfterMs: 86_400_000,
  timeoutMs: 5_000,
} as const;

interface Copy {
  resolve: JWTVerifyGetKey;
  fetchedAtMs: number;
}

/**
 * @throws ProviderKeysUnavailableError when no keys are cached, or when a token names an unknown key that may have been
 *   published since the last fetch
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

  /** Joins the fetch in progress, or starts one unless the last was too recent. Never rejects. */
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
      // While the provider is unreachable, tokens that the old copy can verify do not wait for it.
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
      // A copy fetched before the request may lack a key published since.
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
  if (!response.ok) throw new Error(`${url} returned ${response.status}`);
  const set = (await response.json()) as Partial<JSONWebKeySet> | null;
  // An empty set signals a faulty provider: accepting it would lock everybody out.
  if (!Array.isArray(set?.keys) || set.keys.length === 0) throw new Error(`${url} returned no key`);
  return { keys: set.keys };
}
