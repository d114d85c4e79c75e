import type { Next } from 'koa';
import { type CallerKey, findCaller } from '../../db/organizations/callers.ts';
import { hashApiKeySecret, isWellFormedApiKey } from '../../domain/api-keys.ts';
import { grantingScopes, grantsScope } from '../../domain/scopes.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';
import { holdToRate } from './rate-limit.ts';

/** Test mode has a quarter of the live rate. */
const TEST_MODE_SHARE = 0.25;

/** What a route asks of a request with an API key. */
export interface Access {
  /** Null where any key will do. */
  scope: string | null;
  /** Requests are counted by organisation, mode and this name. */
  rate: { name: string; livePerMinute: number };
  /** Slug, where an endpoint is called. */
  endpoint?: string;
}

/**
 * Finds the API key of `Authorization: Bearer <API_KEY>`, asks for its scope and counts the request: one statement, and
 * nothing is kept, so that revocation works at once.
 */
export function authenticate(clock: () => Date, { scope, rate, endpoint }: Access) {
  const scopes = scope === null ? null : grantingScopes(scope);
  const limits = { live: rate.livePerMinute, test: Math.floor(rate.livePerMinute * TEST_MODE_SHARE) };

  return async (context: ApiContext, next: Next): Promise<void> => {
    const secret = readSecret(context);
    const caller = isWellFormedApiKey(secret)
      ? await findCaller(context.state.em, {
          secretHash: hashApiKeySecret(secret),
          now: clock(),
          grantingScopes: scopes,
          rateName: rate.name,
          endpoint: endpoint ?? null,
        })
      : null;
    if (!caller) {
      throw new ServiceError('invalid_api_key', 'There is no such API key. Check that it was copied in full.');
    }
    const { state, rate: counted, isEndpointInstalled, ...apiKey } = caller;
    if (state === 'revoked') throw new ServiceError('api_key_revoked', 'This API key was revoked. Use another one.');
    if (state === 'expired') throw new ServiceError('api_key_expired', 'This API key has expired. Use another one.');
    context.state.apiKey = apiKey;
    context.state.isEndpointInstalled = isEndpointInstalled;
    if (scope !== null) assertScope(apiKey, scope);
    if (!counted) throw new Error('a request that may go on was not counted');
    holdToRate(context, counted, apiKey.livemode ? limits.live : limits.test);
    await next();
  };
}

function readSecret(context: ApiContext): string {
  const secret = /^Bearer +(\S+)$/i.exec(context.get('Authorization'))?.[1];
  if (secret) return secret;
  throw new ServiceError('missing_api_key', 'Send your API key in the header "Authorization: Bearer <API_KEY>".');
}

/** @throws ServiceError `scope_not_granted` */
export function assertScope({ scopes }: Pick<CallerKey, 'scopes'>, scope: string): void {
  if (grantsScope(scopes, scope)) return;
  throw new ServiceError('scope_not_granted', `This API key does not have the scope "${scope}".`);
}
