import type { ApiContext } from '../context.ts';
import type { LicenseSigning } from '../license-signing.ts';

/** A new key is published this long, at least, before it signs. */
const CACHED_SECONDS = 3_600;

/** `GET /.well-known/jwks.json`: the public keys of SDK licences. Anybody may ask. */
export function createJwksRoute(licenseSigning: LicenseSigning) {
  return (context: ApiContext): void => {
    context.set('Cache-Control', `public, max-age=${CACHED_SECONDS}`);
    context.body = licenseSigning.publicKeys;
  };
}
