/** The permission to call back about one dispatch: signed, for that dispatch alone, until it expires. Nothing keeps it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { epochSeconds } from './job-resource.ts';
import type { SignatureState } from './signed-urls.ts';

export interface DispatchTokens {
  issue(dispatchId: string, expiresAt: Date): string;
  /** Of a token as it came; one of another dispatch is forged. */
  verify(token: string, dispatchId: string, now: Date): SignatureState;
}

export function createDispatchTokens(signingKey: string): DispatchTokens {
  // Signed links use the same key, and sign what begins with a slash.
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
