/** Signed tokens that authorise callbacks about one dispatch until they expire. They are not stored. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { epochSeconds } from '../platform/epoch-seconds.ts';
import type { SignatureState } from '../platform/signed-urls.ts';

export interface DispatchTokens {
  issue(dispatchId: string, expiresAt: Date): string;
  /** The state of a received token; a token of another dispatch is forged. */
  verify(token: string, dispatchId: string, now: Date): SignatureState;
}

export function createDispatchTokens(signingKey: string): DispatchTokens {
  // Signed links use the same key. They sign paths, which begin with a slash.
  const signatureOf = (dispatchId: string, expires: string) =>
    createHmac('sha256', signingKey).update(`dispatch ${dispatchId} ${expires}`).digest('hex');
  return {
    issue(dispatchId, expiresAt) {
      const expires = String(epochSeconds(expiresAt));
      return `${expires}.${signatureOf(dispatchId, expires)}`;
    },
    verify(token, dispatchId, now) {
      const [expires = '', signature = '', ...rest] = token.split('.');
      const expected = Buffer.from(signatureOf(dispatchId, expires));
      const given = Buffer.from(signature);
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return 'forged';
      return Number(expires) > epochSeconds(now) ? 'valid' : 'expired';
    },
  };
}
