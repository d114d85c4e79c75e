/** Members prove who they are with a short-lived JWT of the organisation's authentication service. */
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { isRole } from '../../domain/roles.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Member } from './operation.ts';
import { ProviderKeysUnavailableError } from './provider-keys.ts';

export interface IdentityProvider {
  issuer: string;
  audience: string;
  keys: JWTVerifyGetKey;
}

/** Asymmetric ones only: a public key must never do as a shared secret. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const CLOCK_TOLERANCE_SECONDS = 5;
/** A token cannot be called back, so it must not be good for long. */
const LONGEST_LIFE_SECONDS = 3_600;
const USER_ID = /^usr_[0-9A-Za-z]{1,64}$/;
const ORGANIZATION_ID = /^org_[0-9A-Za-z]{1,64}$/;

/** Reads `Authorization: Bearer <JWT>`. @throws ServiceError 401, or 503 where no provider is configured */
export async function authenticateMember(
  authorization: string,
  provider: IdentityProvider | null,
  now: Date,
): Promise<Member> {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (!token) {
    throw new ServiceError('missing_token', 'Send your token in the header "Authorization: Bearer <JWT>".');
  }
  if (!provider) {
    throw new ServiceError(
      'management_unconfigured',
      'No identity provider is configured, so nobody can sign in here.',
    );
  }
  return memberOf(await verify(token, provider, now));
}

async function verify(token: string, { issuer, audience, keys }: IdentityProvider, now: Date): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: now,
      // Refuses one that was issued in the future, too: it could be good for any time from now.
      maxTokenAge: LONGEST_LIFE_SECONDS,
      requiredClaims: ['exp', 'iat', 'sub', 'org_id', 'role'],
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) {
      throw new ServiceError('token_expired', 'This token has expired. Get a new one and repeat the request.');
    }
    if (error instanceof errors.JOSEError) {
      throw new ServiceError(
        'invalid_token',
        'This is not a token of the configured identity provider for this service.',
      );
    }
    if (error instanceof ProviderKeysUnavailableError) {
      throw new ServiceError(
        'service_unavailable',
        'The keys of the identity provider that are at hand do not tell whether this token is good. ' +
          'Repeat this request later.',
        { headers: { 'Retry-After': String(error.retryAfterSeconds) }, cause: error },
      );
    }
    throw error;
  }
}

function memberOf({ sub, org_id: organizationId, role, iat = 0, exp = Number.POSITIVE_INFINITY }: JWTPayload): Member {
  if (exp - iat > LONGEST_LIFE_SECONDS) {
    throw new ServiceError(
      'invalid_token',
      `This token is good for more than ${LONGEST_LIFE_SECONDS} seconds. Have the provider issue shorter ones.`,
    );
  }
  if (typeof sub !== 'string' || !USER_ID.test(sub)) throw claimRefused('sub', 'the id of a user, usr_…');
  if (typeof organizationId !== 'string' || !ORGANIZATION_ID.test(organizationId)) {
    throw claimRefused('org_id', 'the id of an organisation, org_…');
  }
  if (!isRole(role)) throw claimRefused('role', 'owner, admin, member or billing_manager');
  return { userId: sub, organizationId, role };
}

const claimRefused = (claim: string, wanted: string) =>
  new ServiceError('invalid_token', `The claim "${claim}" of the token must be ${wanted}.`);
