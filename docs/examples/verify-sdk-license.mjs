/**
 * Verifies the proof of an SDK licence offline. Plain Node, no packages:
 *
 *   node docs/examples/verify-sdk-license.mjs player jwks.json < proof.txt
 *
 * `jwks.json` is the stored response of `/.well-known/jwks.json`. Exits with status 1 when the proof is invalid.
 */
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [sdk, keysPath] = process.argv.slice(2);

/** Returns the claims of a proof that is valid now. @throws Error with the reason when it is not */
function verifyLicense(proof, { keys }) {
  const [header, payload, signature] = proof.split('.');
  const decode = (part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  const { alg, typ, kid } = decode(header);
  // The proof must not choose its own verification algorithm.
  if (alg !== 'EdDSA' || typ !== 'sdk-license+jwt') throw new Error('this is not the proof of an SDK licence');
  const jwk = keys.find((key) => key.kid === kid);
  if (!jwk) throw new Error(`the key ${kid} is not known: fetch /.well-known/jwks.json again`);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const genuine = verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature ?? '', 'base64url'));
  if (!genuine) throw new Error('the signature is wrong');
  const claims = decode(payload);
  const now = Date.now() / 1000;
  if (now < claims.nbf || now >= claims.exp) throw new Error('the licence is not valid at this time');
  if (claims.sdk !== sdk) throw new Error(`this is a licence of the ${claims.sdk} SDK`);
  return claims;
}

try {
  const { sub, exp } = verifyLicense(readFileSync(0, 'utf8').trim(), JSON.parse(readFileSync(keysPath, 'utf8')));
  console.log(`${sub} may use the ${sdk} SDK until ${new Date(exp * 1000).toISOString()}`);
} catch (error) {
  console.log(`refused: ${error.message}`);
  process.exitCode = 1;
}
