import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Signing key of SDK licences on this machine, as the value of `LICENSE_SIGNING_KEYS`. It is created once and kept, so that
 * licences of earlier starts stay valid.
 */
export function developmentSigningKeys(path: string): string {
  if (!existsSync(path)) {
    const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
    writeFileSync(path, JSON.stringify({ keys: [{ ...jwk, kid: 'development' }] }), { mode: 0o600 });
  }
  return readFileSync(path, 'utf8');
}
