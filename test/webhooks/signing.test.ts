import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { newWebhookSecret, signatureHeaders } from '../../src/webhooks/signing.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwbWIbPvCHUsw=';
const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfgCxHe3nQ=';
const NOW_SECONDS = 1_790_000_000;
const BODY = '{"id":"evt_1","text":"größer als µ"}';

function headersOf(secrets: readonly string[] = [SECRET], timestampSeconds = NOW_SECONDS) {
  return signatureHeaders({ eventId: 'evt_1', body: BODY, timestampSeconds, secrets });
}

describe('a webhook secret', () => {
  it('a webhook secret is whsec_ and the base64 of 32 random bytes', () => {
    const secrets = Array.from({ length: 100 }, newWebhookSecret);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
    expect(new Set(secrets).size).toBe(100);
  });
});

/** The receiver's side is tested in test/client/webhooks.test.ts. */
it('Service-Signature is hex HMAC-SHA256 of t.body, keyed with the whole secret, as documented', () => {
  // echo -n '1790000000.{"id":"evt_1","text":"größer als µ"}' | openssl dgst -sha256 -hmac "$SECRET"
  expect(headersOf()['service-signature']).toBe(
    't=1790000000,v1=eaedaae7edd293859f85487018370d70464be92d5cf12a9689d85d14588e564c',
  );
});

describe('the Standard Webhooks headers', () => {
  const freshHeaders = (secrets: readonly string[]) => headersOf(secrets, Math.floor(Date.now() / 1_000));

  it('the Standard Webhooks signature verifies with the standardwebhooks library, under either of two active secrets', () => {
    const headers = freshHeaders([SECRET, OTHER_SECRET]);
    expect(new Webhook(SECRET).verify(BODY, headers)).toEqual(JSON.parse(BODY));
    expect(new Webhook(OTHER_SECRET).verify(BODY, headers)).toEqual(JSON.parse(BODY));
  });

  it('the Standard Webhooks signature verifies with a secret of newWebhookSecret', () => {
    const secret = newWebhookSecret();
    expect(new Webhook(secret).verify(BODY, freshHeaders([secret]))).toEqual(JSON.parse(BODY));
  });

  it('the Standard Webhooks signature does not verify under another secret or over another body', () => {
    const headers = freshHeaders([SECRET]);
    expect(() => new Webhook(OTHER_SECRET).verify(BODY, headers)).toThrow(WebhookVerificationError);
    expect(() => new Webhook(SECRET).verify(`${BODY} `, headers)).toThrow(WebhookVerificationError);
  });
});
