/** An identity provider for one test, with tokens of any member or of nobody. */
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { IdentityProvider } from '../../src/api/management/authenticate-member.ts';
import type { Member } from '../../src/api/management/operation.ts';
import { newId } from '../../src/platform/ids.ts';

const ISSUER = 'https://identity.example';
const AUDIENCE = 'vehicle-inference-service';
const ALGORITHM = 'ES256';
const KEY_ID = 'test';
const LIFE_SECONDS = 300;

export interface TestIdentity {
  provider: IdentityProvider;
  /** A token of a member; an unnamed member is new. */
  token(member?: Partial<Member>, changes?: TokenChanges): Promise<string>;
}

export interface TokenChanges {
  claims?: JWTPayload;
  expiresAt?: Date;
}

/** Its tokens use the time of the clock. */
export async function createTestIdentity(clock: () => Date = () => new Date()): Promise<TestIdentity> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM);
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: KEY_ID, alg: ALGORITHM }] });
  return {
    provider: { issuer: ISSUER, audience: AUDIENCE, keys },
    token({ userId = newId('user'), organizationId = newId('organization'), role = 'owner' } = {}, changes = {}) {
      const exp = Math.floor((changes.expiresAt?.getTime() ?? clock().getTime() + LIFE_SECONDS * 1000) / 1000);
      return new SignJWT({
        iss: ISSUER,
        aud: AUDIENCE,
        sub: userId,
        org_id: organizationId,
        role,
        iat: exp - LIFE_SECONDS,
        exp,
        ...changes.claims,
      })
        .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID })
        .sign(privateKey);
    },
  };
}
