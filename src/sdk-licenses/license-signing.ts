/** Signs proofs of SDK licences: JWTs that can be verified offline with the public keys. */
import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { LicenseSigningKey } from '../platform/config/license-signing-keys.ts';
import type { SignLicense } from './sdk-licenses-store.ts';

export interface LicenseSigning {
  /** Null without a signing key. */
  sign: SignLicense | null;
  /** JSON Web Key Set (RFC 7517) for verifiers. */
  publicKeys: { keys: PublicKey[] };
}

interface PublicKey {
  kty: 'OKP';
  crv: 'Ed25519';
  alg: 'EdDSA';
  use: 'sig';
  kid: string;
  x: string;
}

/** Explicit type of the JWT, so that it is not mistaken for another kind (RFC 8725, section 3.11). */
export const PROOF_TYPE = 'sdk-license+jwt';

/** The first of `keys` signs. All are published, so that proofs signed by earlier keys stay verifiable. */
export function createLicenseSigning(keys: readonly LicenseSigningKey[], issuer: string): LicenseSigning {
  const publicKeys = keys.map(
    ({ kid, x }): PublicKey => ({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x }),
  );
  const [key] = keys;
  return { sign: key ? createSigner(key, issuer) : null, publicKeys: { keys: publicKeys } };
}

function createSigner({ kid, ...parts }: LicenseSigningKey, issuer: string): SignLicense {
  const privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', ...parts }, format: 'jwk' });
  return ({ id, organizationId, sdk, issuedAt, validFrom, expiresAt }) =>
    new SignJWT({ sdk })
      .setProtectedHeader({ alg: 'EdDSA', typ: PROOF_TYPE, kid })
      .setIssuer(issuer)
      .setSubject(organizationId)
      .setJti(id)
      .setIssuedAt(issuedAt)
      .setNotBefore(validFrom)
      .setExpirationTime(expiresAt)
      .sign(privateKey);
}
