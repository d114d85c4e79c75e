import type { Next } from 'koa';
import { type CallerKey, type CallerLookup, findCaller } from '../../db/organizations/callers.ts';
import { hashApiKeySecret, isWellFormedApiKey } from '../../domain/api-keys.ts';
import { grantsScope } from '../../domain/scopes.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';
import type { KnownCallers } from '../known-callers.ts';
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
export function authenticate(clock: () => Date, access: Access) {
  const check = createCallerCheck(clock, access);
  return async (context: ApiContext, next: Next): Promise<void> => {
    await check.lookUp(context, check.lookupOf(context));
    await next();
  };
}

/** What a route that admits jobs asks. */
export interface AdmissionAccess extends Access {
  scope: string;
  endpoint: string;
}

/**
 * The same for a route that admits jobs, where the statement that admits the job checks the key once more: reading the body
 * may take minutes. For a caller who was let in before, that is the only check, and a statement is saved. Whatever else
 * comes of the request, the caller is looked up before it is answered, so that nobody can tell the difference: revocation
 * works at once, every request counts once.
 */
export function authenticateOnAdmission(clock: () => Date, access: AdmissionAccess, knownCallers: KnownCallers) {
  const check = createCallerCheck(clock, access);
  const { scope, endpoint, rate } = access;

  return async (context: ApiContext, next: Next): Promise<void> => {
    const lookup = check.lookupOf(context);
    const { secretHash } = lookup;
    const lookUp = async (): Promise<void> => {
      context.state.knownCaller = undefined;
      knownCallers.forget(secretHash, endpoint);
      await check.lookUp(context, lookup);
      const { apiKey, isEndpointInstalled } = context.state;
      if (isEndpointInstalled || !apiKey.livemode) knownCallers.remember(secretHash, endpoint, apiKey);
    };
    const checkOnAdmission = (key: CallerKey, isCounted: boolean): void => {
      context.state.apiKey = key;
      context.state.knownCaller = {
        ...key,
        secretHash,
        rate: isCounted ? null : { name: rate.name, limit: check.limitOf(key) },
        confirm(counted) {
          context.state.knownCaller = undefined;
          if (counted) holdToRate(context, counted, check.limitOf(key));
        },
        lookUp,
      };
    };

    const known = knownCallers.find(secretHash, endpoint);
    if (!known || !grantsScope(known.scopes, scope)) {
      await lookUp();
      checkOnAdmission(context.state.apiKey, true);
      await next();
      return;
    }
    checkOnAdmission(known, false);
    context.state.isEndpointInstalled = true;
    try {
      await next();
    } finally {
      // What stands in the way of the caller comes before what was wrong with the request.
      if (context.state.knownCaller) await lookUp();
    }
  };
}

function createCallerCheck(clock: () => Date, { scope, rate, endpoint }: Access) {
  const limits = { live: rate.livePerMinute, test: Math.floor(rate.livePerMinute * TEST_MODE_SHARE) };
  const limitOf = ({ livemode }: Pick<CallerKey, 'livemode'>): number => (livemode ? limits.live : limits.test);

  return {
    limitOf,

    /** @throws ServiceError `missing_api_key`, `invalid_api_key` */
    lookupOf(context: ApiContext): Omit<CallerLookup, 'now'> {
      const secret = readSecret(context);
      if (!isWellFormedApiKey(secret)) throw unknownKey();
      return {
        secretHash: hashApiKeySecret(secret),
        rateName: rate.name,
        endpoint: endpoint ?? null,
      };
    },

    /** @throws ServiceError when the caller may not go on */
    async lookUp(context: ApiContext, lookup: Omit<CallerLookup, 'now'>): Promise<void> {
      const state: { apiKey: CallerKey | undefined; isEndpointInstalled: boolean } = context.state;
      state.apiKey = undefined;
      const caller = await findCaller(context.state.em, { ...lookup, now: clock() });
      if (!caller) throw unknownKey();
      const { state: keyState, rate: counted, isEndpointInstalled, ...apiKey } = caller;
      if (keyState === 'revoked')
        throw new ServiceError('api_key_revoked', 'This API key was revoked. Use another one.');
      if (keyState === 'expired')
        throw new ServiceError('api_key_expired', 'This API key has expired. Use another one.');
      state.apiKey = apiKey;
      state.isEndpointInstalled = isEndpointInstalled;
      if (!counted) throw new Error('a request with a usable key was not counted');
      holdToRate(context, counted, limitOf(apiKey));
      if (scope !== null) assertScope(apiKey, scope);
    },
  };
}

const unknownKey = () =>
  new ServiceError('invalid_api_key', 'There is no such API key. Check that it was copied in full.');

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
