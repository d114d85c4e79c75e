import { createPrivateKey, createPublicKey } from 'node:crypto';

/** An Ed25519 key as a JSON Web Key; without `d` it has no private part. */
export interface LicenseSigningKey {
  kid: string;
  x: string;
  d?: string;
}

const REFUSAL =
  'must be a JSON Web Key Set of Ed25519 keys, each with a "kid" of its own, and the first with its private part "d"';

/** Parses `{"keys":[…]}`. @throws Error without any part of the text, which is secret */
export function parseLicenseSigningKeys(text: string): readonly LicenseSigningKey[] {
  const keys = keysOf(text)?.map(readKey);
  const usable = keys?.filter((key) => key !== null) ?? [];
  const kids = new Set(usable.map(({ kid }) => kid));
  const [first] = usable;
  const isFit = keys?.length === usable.length && kids.size === usable.length && (!first || first.d !== undefined);
  if (!isFit) throw new Error(REFUSAL);
  return usable;
}

function keysOf(text: string): unknown[] | null {
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    return Array.isArray(keys) ? keys : null;
  } catch {
    return null;
  }
}

function readKey(jwk: unknown): LicenseSigningKey | null {
  if (typeof jwk !== 'object' || jwk === null) return null;
  const { kty, crv, kid, x, d } = jwk as Record<string, unknown>;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof kid !== 'string' || kid === '' || typeof x !== 'string') return null;
  if (d !== undefined && typeof d !== 'string') return null;
  const key = { kid, x, ...(d !== undefined && { d }) };
  return publicPartOf(key) === x ? key : null;
}

/** The public part derived from the private one, if there is one; null if this is not a key. */
function publicPartOf({ x, d }: LicenseSigningKey): string | null {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x };
  try {
    const key =
      d === undefined
        ? createPublicKey({ key: jwk, format: 'jwk' })
        : createPublicKey(createPrivateKey({ key: { ...jwk, d }, format: 'jwk' }));
    return key.export({ format: 'jwk' }).x ?? null;
  } catch {
    return null;
  }
}
