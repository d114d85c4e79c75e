/** Links that carry their own permission: the bearer may use its path until it expires. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { epochSeconds } from './epoch-seconds.ts';

export type SignatureState = 'valid' | 'expired' | 'forged';

export interface SignedUrls {
  /** `path` starts with a slash and has no query. */
  sign(path: string, expiresAt: Date): string;
  /** `query` as received with the request. */
  verify(path: string, query: { expires?: unknown; signature?: unknown }, now: Date): SignatureState;
}

export function createSignedUrls(publicBaseUrl: string, signingKey: string): SignedUrls {
  const signatureOf = (path: string, expires: string) =>
    createHmac('sha256', signingKey).update(`${path}?expires=${expires}`).digest('hex');
  return {
    sign(path, expiresAt) {
      const expires = String(epochSeconds(expiresAt));
      return `${publicBaseUrl}${path}?expires=${expires}&signature=${signatureOf(path, expires)}`;
    },
    verify(path, { expires, signature }, now) {
      if (typeof expires !== 'string' || typeof signature !== 'string') return 'forged';
      const expected = Buffer.from(signatureOf(path, expires));
      const given = Buffer.from(signature);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'forged';
      return Number(expires) > epochSeconds(now) ? 'valid' : 'expired';
    },
  };
}
