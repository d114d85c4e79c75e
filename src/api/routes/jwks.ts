import type { LicenseSigning } from '../../sdk-licenses/license-signing.ts';
import type { ApiContext } from '../context.ts';

/** Operators publish a new key at least this long before it signs. */
const CACHED_SECONDS = 3_600;

/** `GET /.well-known/jwks.json`: the public keys of SDK licences, without authentication. */
export function createJwksRoute(licenseSigning: LicenseSigning) {
  return (context: ApiContext): void => {
    context.set('Cache-Control', `public, max-age=${CACHED_SECONDS}`);
    context.body = licenseSigning.publicKeys;
  };
}
