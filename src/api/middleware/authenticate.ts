import type { Next } from 'koa';
import { ApiKey } from '../../db/entities.ts';
import { apiKeyState, hashApiKeySecret, isWellFormedApiKey } from '../../domain/api-keys.ts';
import { grantsScope } from '../../domain/scopes.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';

/** Finds the API key of `Authorization: Bearer <API_KEY>`. Revocation works at once: every request looks it up. */
export function authenticate(clock: () => Date) {
  return async (context: ApiContext, next: Next): Promise<void> => {
    const header = context.get('Authorization');
    const secret = /^Bearer +(\S+)$/i.exec(header)?.[1];
    if (!secret) {
      throw new ServiceError('missing_api_key', 'Send your API key in the header "Authorization: Bearer <API_KEY>".');
    }
    const hash = hashApiKeySecret(secret);
    const key = isWellFormedApiKey(secret) ? await findKey(context, hash) : null;
    if (!key) throw new ServiceError('invalid_api_key', 'There is no such API key. Check that it was copied in full.');
    const state = apiKeyState(key, hash, clock());
    if (state === 'revoked') throw new ServiceError('api_key_revoked', 'This API key was revoked. Use another one.');
    if (state === 'expired') throw new ServiceError('api_key_expired', 'This API key has expired. Use another one.');
    context.state.apiKey = key;
    await next();
  };
}

function findKey(context: ApiContext, hash: Buffer): Promise<ApiKey | null> {
  return context.state.em.findOne(ApiKey, { $or: [{ secretHash: hash }, { previousSecretHash: hash }] });
}

/** Refuses a key that was not given the scope. */
export function requireScope(scope: string) {
  return async (context: ApiContext, next: Next): Promise<void> => {
    assertScope(context.state.apiKey, scope);
    await next();
  };
}

/** @throws ServiceError `scope_not_granted` */
export function assertScope({ scopes }: Pick<ApiKey, 'scopes'>, scope: string): void {
  if (grantsScope(scopes, scope)) return;
  throw new ServiceError('scope_not_granted', `This API key does not have the scope "${scope}".`);
}
