import type { Next } from 'koa';
import { hashApiKeySecret, isWellFormedApiKey } from '../../organizations/api-keys.ts';
import { type CallerKey, type CallerLookup, findCaller } from '../../organizations/callers-store.ts';
import type { KnownCallers } from '../../organizations/known-callers.ts';
import { limitPerMinute } from '../../organizations/rate-limits.ts';
import { grantsScope } from '../../organizations/scopes.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { enforceRate } from './rate-limit.ts';

/** What a route requires of the caller's API key. */
export interface Access {
  /** Null: any key is accepted. */
  scope: string | null;
  /** Requests are counted per organisation, mode and this name. */
  rate: { name: string; livePerMinute: number };
  /** Slug, on inference routes. */
  endpoint?: string;
}

/**
 * Looks up the API key of `Authorization: Bearer <API_KEY>`, checks its scope and counts the request in one statement.
 * Nothing is cached, so revocation takes effect at once.
 */
export function authenticate(clock: () => Date, access: Access) {
  const check = createCallerCheck(clock, access);
  return async (context: ApiContext, next: Next): Promise<void> => {
    await check.lookUp(context, check.lookupOf(context));
    await next();
  };
}

/** What a route that admits jobs requires. */
export interface AdmissionAccess extends Access {
  scope: string;
  endpoint: string;
}

/**
 * The same for routes that admit jobs. The admission statement checks the key again, because reading the body may take
 * minutes. For a caller seen before, that is the only check, which saves a statement. If the request ends any other way,
 * the caller is looked up before the response, so the result is the same: revocation takes effect at once and every request
 * counts once.
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
        onVerified(counted) {
          context.state.knownCaller = undefined;
          if (counted) enforceRate(context, counted, check.limitOf(key));
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
      // Report authentication failures before validation errors.
      if (context.state.knownCaller) await lookUp();
    }
  };
}

function createCallerCheck(clock: () => Date, { scope, rate, endpoint }: Access) {
  const limitOf = ({ livemode }: Pick<CallerKey, 'livemode'>): number => limitPerMinute(rate.livePerMinute, livemode);

  return {
    limitOf,

    /** @throws ServiceError `missing_api_key`, `invalid_api_key` */
    lookupOf(context: ApiContext): Omit<CallerLookup, 'now'> {
      const secret = readSecret(context);
      if (JSON_WEB_TOKEN.test(secret)) throw tokenInsteadOfKey();
      if (!isWellFormedApiKey(secret)) throw unknownKey();
      return {
        secretHash: hashApiKeySecret(secret),
        rateName: rate.name,
        endpoint: endpoint ?? null,
      };
    },

    /** @throws ServiceError for a caller that is refused */
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
      if (keyState === 'rotated') {
        throw new ServiceError(
          'api_key_expired',
          'This API key was rotated, and the grace period of its previous secret is over. Use the new secret.',
        );
      }
      state.apiKey = apiKey;
      context.state.secretHash = lookup.secretHash;
      state.isEndpointInstalled = isEndpointInstalled;
      if (!counted) throw new Error('a request with a usable key was not counted');
      enforceRate(context, counted, limitOf(apiKey));
      if (scope !== null) assertScope(apiKey, scope);
    },
  };
}

/** The header of a JWT is a JSON object in base64url. */
const JSON_WEB_TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;

const tokenInsteadOfKey = () =>
  new ServiceError(
    'invalid_api_key',
    'This is a JSON Web Token, not an API key. /v1 needs an API key ("chk_…"); tokens of members are for /mgmt/v1.',
  );

const unknownKey = () => new ServiceError('invalid_api_key', 'Unknown API key. Check that you copied all of it.');

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
