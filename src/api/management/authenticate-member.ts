/** Authenticates members by a short-lived JWT of the organisation's identity provider. */
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { ORGANIZATION_ID } from '../../organizations/organization-id.ts';
import { isRole } from '../../organizations/roles.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { Member } from './operation.ts';
import { ProviderKeysUnavailableError } from './provider-keys.ts';

export interface IdentityProvider {
  issuer: string;
  audience: string;
  keys: JWTVerifyGetKey;
}

/** Asymmetric only: a public key must never be accepted as a shared secret. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const CLOCK_TOLERANCE_SECONDS = 5;
/** Tokens cannot be revoked, so their lifetime is limited. */
const LONGEST_LIFETIME_SECONDS = 3_600;
const USER_ID = /^usr_[0-9A-Za-z]{1,64}$/;
/** Also a mistyped one. */
const API_KEY = /^chk_/;

/** Reads `Authorization: Bearer <JWT>`. @throws ServiceError 401; 503 without a configured provider */
export async function authenticateMember(
  authorization: string,
  provider: IdentityProvider | null,
  now: Date,
): Promise<Member> {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (!token) {
    throw new ServiceError('missing_token', 'Send your token in the header "Authorization: Bearer <JWT>".');
  }
  if (API_KEY.test(token)) {
    throw new ServiceError(
      'invalid_token',
      'This is an API key, not a token. /mgmt/v1 needs the JSON Web Token of a member; API keys are for /v1.',
    );
  }
  if (!provider) {
    throw new ServiceError(
      'management_unconfigured',
      'No identity provider is configured, so the management API accepts no tokens.',
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
      // Also refuses tokens issued in the future, whose lifetime would be unlimited.
      maxTokenAge: LONGEST_LIFETIME_SECONDS,
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
        'This token was not issued by the configured identity provider for this service.',
      );
    }
    if (error instanceof ProviderKeysUnavailableError) {
      throw new ServiceError(
        'service_unavailable',
        'The signing keys of the identity provider cannot be renewed right now, so this token cannot be verified. ' +
          'Repeat the request later.',
        { headers: { 'Retry-After': String(error.retryAfterSeconds) }, cause: error },
      );
    }
    throw error;
  }
}

function memberOf({ sub, org_id: organizationId, role, iat = 0, exp = Number.POSITIVE_INFINITY }: JWTPayload): Member {
  if (exp - iat > LONGEST_LIFETIME_SECONDS) {
    throw new ServiceError(
      'invalid_token',
      `This token is valid for more than ${LONGEST_LIFETIME_SECONDS} seconds. Configure a shorter lifetime at the provider.`,
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
