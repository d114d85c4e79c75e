/** Proofs of SDK licences: JWTs that whoever has the public keys verifies without asking the service. */
import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { LicenseSigningKey } from '../config/license-signing-keys.ts';
import type { SignLicense } from '../db/sdk-licenses/sdk-licenses.ts';

export interface LicenseSigning {
  /** Null without a key. */
  sign: SignLicense | null;
  /** For verifiers, as a JSON Web Key Set (RFC 7517). */
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

/** Says what the JWT is, so that nobody takes it for another kind (RFC 8725, section 3.11). */
export const PROOF_TYPE = 'sdk-license+jwt';

/** The first of `keys` signs. All of them are published, so that what an earlier one signed is verified on. */
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
