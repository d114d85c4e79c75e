import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import {
  newWebhookSecret,
  SIGNATURE_TOLERANCE_SECONDS,
  type SignatureErrorCode,
  signatureHeaders,
  verifyServiceSignature,
  WebhookSignatureError,
} from '../../src/domain/webhook-signing.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwbWIbPvCHUsw=';
const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfgCxHe3nQ=';
const NOW_SECONDS = 1_790_000_000;
const BODY = '{"id":"evt_1","text":"größer als µ"}';

function headersOf(secrets: readonly string[] = [SECRET], timestampSeconds = NOW_SECONDS) {
  return signatureHeaders({ eventId: 'evt_1', body: BODY, timestampSeconds, secrets });
}

function serviceSignature(secrets?: readonly string[], timestampSeconds?: number): string {
  return headersOf(secrets, timestampSeconds)['service-signature'] ?? '';
}

function codeOf(verify: () => void): SignatureErrorCode | 'accepted' {
  try {
    verify();
    return 'accepted';
  } catch (error) {
    if (error instanceof WebhookSignatureError) return error.code;
    throw error;
  }
}

function verdict(
  header: string | undefined,
  change: { body?: string | Uint8Array; secret?: string; nowSeconds?: number } = {},
) {
  return codeOf(() =>
    verifyServiceSignature({ header, body: BODY, secret: SECRET, nowSeconds: NOW_SECONDS, ...change }),
  );
}

describe('a webhook secret', () => {
  it('is whsec_ and the base64 of 32 bytes, another one each time', () => {
    const secrets = Array.from({ length: 100 }, newWebhookSecret);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
    expect(new Set(secrets).size).toBe(100);
  });
});

describe('Service-Signature', () => {
  it('is what the documentation says: hex HMAC-SHA256 of t.body, keyed with the secret as shown', () => {
    // echo -n '1790000000.{"id":"evt_1","text":"größer als µ"}' | openssl dgst -sha256 -hmac "$SECRET"
    expect(serviceSignature()).toBe('t=1790000000,v1=eaedaae7edd293859f85487018370d70464be92d5cf12a9689d85d14588e564c');
  });

  it('verifies, given as text or as bytes', () => {
    expect(verdict(serviceSignature())).toBe('accepted');
    expect(verdict(serviceSignature(), { body: Buffer.from(BODY) })).toBe('accepted');
  });

  it('verifies whatever the body and whichever of two secrets the receiver holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(2 ** 40), fc.boolean(), (body, t, first) => {
        const timestampSeconds = t + 1;
        const header = signatureHeaders({ eventId: 'evt_1', body, timestampSeconds, secrets: [SECRET, OTHER_SECRET] })[
          'service-signature'
        ];
        const secret = first ? SECRET : OTHER_SECRET;
        expect(verdict(header, { body, secret, nowSeconds: timestampSeconds })).toBe('accepted');
      }),
    );
  });

  it('ignores elements it does not know, and space around elements', () => {
    expect(verdict(`v0=00, ${serviceSignature().replace(',', ' , ')},v2=zz`)).toBe('accepted');
  });

  it.each([
    ['a changed body', { body: `${BODY} ` }],
    ['another secret', { secret: OTHER_SECRET }],
    ['the secret without its prefix', { secret: SECRET.slice(6) }],
  ])('refuses %s with signature_mismatch', (_name, change) => {
    expect(verdict(serviceSignature(), change)).toBe('signature_mismatch');
  });

  it('refuses a changed timestamp with signature_mismatch', () => {
    expect(verdict(serviceSignature().replace(`t=${NOW_SECONDS}`, `t=${NOW_SECONDS + 1}`))).toBe('signature_mismatch');
  });

  it('refuses a missing header with signature_missing', () => {
    expect(verdict(undefined)).toBe('signature_missing');
    expect(verdict('')).toBe('signature_missing');
  });

  it.each([
    'nonsense',
    `t=${NOW_SECONDS}`,
    `v1=${'0'.repeat(64)}`,
    `t=,v1=${'0'.repeat(64)}`,
    `t=-5,v1=${'0'.repeat(64)}`,
    `t=1e9,v1=${'0'.repeat(64)}`,
    `t=1,t=2,v1=${'0'.repeat(64)}`,
    `t=1,v1=${'0'.repeat(63)}`,
    `t=1,v1=${'g'.repeat(64)}`,
    `t=1,v1=${'0'.repeat(64)},v1=`,
  ])('refuses %s with signature_malformed', (header) => {
    expect(verdict(header)).toBe('signature_malformed');
  });

  it('is refused a second after the tolerance, in both directions', () => {
    const header = serviceSignature();
    for (const direction of [-1, 1]) {
      const edge = NOW_SECONDS + direction * SIGNATURE_TOLERANCE_SECONDS;
      expect(verdict(header, { nowSeconds: edge })).toBe('accepted');
      expect(verdict(header, { nowSeconds: edge + direction })).toBe('timestamp_out_of_tolerance');
    }
  });

  it('calls a forged old message a mismatch: its timestamp proves nothing', () => {
    expect(verdict(serviceSignature([OTHER_SECRET], NOW_SECONDS - 10_000))).toBe('signature_mismatch');
  });
});

describe('the Standard Webhooks headers', () => {
  const freshHeaders = (secrets: readonly string[]) => headersOf(secrets, Math.floor(Date.now() / 1_000));

  it('verify with the standardwebhooks library, under either of two active secrets', () => {
    const headers = freshHeaders([SECRET, OTHER_SECRET]);
    expect(new Webhook(SECRET).verify(BODY, headers)).toEqual(JSON.parse(BODY));
    expect(new Webhook(OTHER_SECRET).verify(BODY, headers)).toEqual(JSON.parse(BODY));
  });

  it('verify with a secret of newWebhookSecret', () => {
    const secret = newWebhookSecret();
    expect(new Webhook(secret).verify(BODY, freshHeaders([secret]))).toEqual(JSON.parse(BODY));
  });

  it('do not verify under another secret or over another body', () => {
    const headers = freshHeaders([SECRET]);
    expect(() => new Webhook(OTHER_SECRET).verify(BODY, headers)).toThrow(WebhookVerificationError);
    expect(() => new Webhook(SECRET).verify(`${BODY} `, headers)).toThrow(WebhookVerificationError);
  });
});
