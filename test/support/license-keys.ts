/** Keys of SDK licences, and a verification that uses only the published keys. */
import { generateKeyPairSync } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyResult, jwtVerify } from 'jose';
import type { LicenseSigningKey } from '../../src/platform/config/license-signing-keys.ts';
import { PUBLIC_BASE_URL } from './api.ts';

export function newLicenseKey(kid: string): Required<LicenseSigningKey> {
  const { x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  if (x === undefined || d === undefined) throw new Error('an Ed25519 key has two parts');
  return { kid, x, d };
}

/** @throws errors of jose when the proof is invalid at that time */
export function verifyProof(proof: string, publicKeys: unknown, now: Date): Promise<JWTVerifyResult> {
  return jwtVerify(proof, createLocalJWKSet(publicKeys as JSONWebKeySet), {
    algorithms: ['EdDSA'],
    typ: 'sdk-license+jwt',
    issuer: PUBLIC_BASE_URL,
    currentDate: now,
    requiredClaims: ['sub', 'jti', 'sdk', 'iat', 'nbf', 'exp'],
  });
}
