/** Rules of an API key's life: limits, expiry, rotation, revocation. */
import { epochSeconds } from '../platform/epoch-seconds.ts';
import { ServiceError } from '../platform/service-error.ts';
import { type KeyMode, newApiKeySecret } from './api-keys.ts';
import type { ApiKey } from './entities.ts';
import { mayDo, type Role } from './roles.ts';
import { normalizeScopes } from './scopes.ts';

/** Active keys of one organisation. */
export const MOST_ACTIVE_KEYS = 100;

/** @throws ServiceError `api_key_limit_reached` */
export function assertRoomForKey(activeKeys: number): void {
  if (activeKeys < MOST_ACTIVE_KEYS) return;
  throw new ServiceError(
    'api_key_limit_reached',
    `An organisation can have ${MOST_ACTIVE_KEYS} active keys. Revoke one that is no longer needed.`,
  );
}

/** Every role that reaches this check may change test keys. @throws ServiceError `role_not_permitted` */
export function assertMayChangeKey(role: Role, { livemode }: Pick<ApiKey, 'livemode'>): void {
  if (!livemode || mayDo(role, 'api_keys:write')) return;
  throw new ServiceError('role_not_permitted', `The role ${role} can create and change test keys only.`);
}

/** @throws ServiceError `api_key_inactive` */
export function assertKeyActive({ revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, now: Date): void {
  if (!revokedAt && (!expiresAt || expiresAt > now)) return;
  const state = revokedAt ? 'was revoked' : 'has expired';
  throw new ServiceError('api_key_inactive', `This key ${state} and cannot become active again. Create a new one.`);
}

/** @throws ServiceError `parameter_invalid` */
export function keyModeOf({ livemode, isStaging }: { livemode: boolean; isStaging: boolean }): KeyMode {
  if (isStaging && !livemode) {
    throw new ServiceError('parameter_invalid', 'A staging key is a live key: set "livemode" to true.', {
      param: 'is_staging',
    });
  }
  return livemode ? (isStaging ? 'staging' : 'live') : 'test';
}

/** Epoch seconds as a date; null and undefined stay. @throws ServiceError `parameter_invalid` unless in the future */
export function parseExpiry<Seconds extends number | null | undefined>(
  seconds: Seconds,
  now: Date,
): Date | Exclude<Seconds, number> {
  if (typeof seconds !== 'number') return seconds as Exclude<Seconds, number>;
  const time = new Date(seconds * 1000);
  if (time > now) return time;
  throw new ServiceError('parameter_invalid', '"expires_at" must be in the future.', { param: 'expires_at' });
}

interface KeyChanges {
  name?: string | undefined;
  scopes?: readonly string[] | undefined;
  expiresAt?: Date | null | undefined;
}

/** Changes an active key; undefined leaves a property as it is. @throws ServiceError `api_key_inactive` */
export function changeKey(key: ApiKey, { name, scopes, expiresAt }: KeyChanges, now: Date): void {
  assertKeyActive(key, now);
  if (name !== undefined) key.name = name;
  if (scopes !== undefined) key.scopes = normalizeScopes(scopes);
  if (expiresAt !== undefined) {
    key.expiresAt = expiresAt;
    key.rotatesAt = key.rotatesAt && earlierOf(key.rotatesAt, expiresAt);
  }
}

/**
 * Gives an active key a new secret, which is returned. The previous one works until the grace period ends, at most until
 * the key expires. @throws ServiceError `api_key_inactive`
 */
export function rotateKey(key: ApiKey, graceSeconds: number, now: Date): string {
  assertKeyActive(key, now);
  const { secret, prefix, hash } = newApiKeySecret(keyModeOf(key));
  key.previousSecretHash = key.secretHash;
  key.secretHash = hash;
  key.prefix = prefix;
  // A whole second, as the API shows it.
  const graceEnds = new Date((epochSeconds(now) + graceSeconds) * 1000);
  key.rotatesAt = earlierOf(graceEnds, key.expiresAt);
  return secret;
}

/** Repeated, it keeps the first time. */
export function revokeKey(key: ApiKey, now: Date): void {
  key.revokedAt ??= now;
}

const earlierOf = (time: Date, limit: Date | null) => (limit && limit < time ? limit : time);
