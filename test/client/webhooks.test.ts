import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyWebhook, WebhookVerificationError } from '../../src/client/index.ts';
import { SIGNATURE_TOLERANCE_SECONDS } from '../../src/client/webhooks.ts';
import { newWebhookSecret, signatureHeaders } from '../../src/webhooks/signing.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwbWIbPvCHUsw=';
const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfgCxHe3nQ=';
const NOW_SECONDS = 1_790_000_000;
const BODY = '{"id":"evt_1","text":"größer als µ"}';

/** Signs as the service does. */
function sign(secrets: readonly string[] = [SECRET], timestampSeconds = NOW_SECONDS, body = BODY): string {
  return signatureHeaders({ eventId: 'evt_1', body, timestampSeconds, secrets })['service-signature'] ?? '';
}

async function verdict(
  signature: string | null | undefined,
  change: { body?: string | Uint8Array<ArrayBuffer>; secret?: string; now?: number } = {},
) {
  try {
    const event = await verifyWebhook({ body: BODY, signature, secret: SECRET, now: NOW_SECONDS, ...change });
    return event.id === 'evt_1' ? 'accepted' : event;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
}

describe('accepted webhooks', () => {
  it('a webhook is accepted when the service signed it, as text or as bytes', async () => {
    expect(await verdict(sign())).toBe('accepted');
    expect(await verdict(sign(), { body: new TextEncoder().encode(BODY) })).toBe('accepted');
  });

  it('a webhook is accepted with a secret of newWebhookSecret', async () => {
    const secret = newWebhookSecret();
    expect(await verdict(sign([secret]), { secret })).toBe('accepted');
  });

  it('a webhook is accepted with either secret during a rotation, whatever its body', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.nat(2 ** 40), fc.boolean(), async (text, t, first) => {
        const body = JSON.stringify({ id: 'evt_1', text });
        const signature = sign([SECRET, OTHER_SECRET], t + 1, body);
        const secret = first ? SECRET : OTHER_SECRET;
        expect(await verdict(signature, { body, secret, now: t + 1 })).toBe('accepted');
      }),
    );
  });

  it('a webhook is accepted with unknown elements and spaces in the header', async () => {
    expect(await verdict(`v0=00, ${sign().replace(',', ' , ')},v2=zz`)).toBe('accepted');
  });

  it('a webhook is accepted within five minutes of its signature, and refused a second later, in both directions', async () => {
    for (const direction of [-1, 1]) {
      const edge = NOW_SECONDS + direction * SIGNATURE_TOLERANCE_SECONDS;
      expect(await verdict(sign(), { now: edge })).toBe('accepted');
      expect(await verdict(sign(), { now: edge + direction })).toBe('timestamp_out_of_tolerance');
    }
  });
});

describe('refused webhooks', () => {
  it.each([
    ['a changed body', { body: `${BODY} ` }],
    ['another secret', { secret: OTHER_SECRET }],
    ['the secret without its prefix', { secret: SECRET.slice(6) }],
  ])('a webhook is refused with signature_mismatch for %s', async (_name, change) => {
    expect(await verdict(sign(), change)).toBe('signature_mismatch');
  });

  it('a webhook is refused with signature_mismatch for a changed timestamp', async () => {
    expect(await verdict(sign().replace(`t=${NOW_SECONDS}`, `t=${NOW_SECONDS + 1}`))).toBe('signature_mismatch');
  });

  it('a forged old webhook is refused with signature_mismatch: an unverified timestamp proves nothing', async () => {
    expect(await verdict(sign([OTHER_SECRET], NOW_SECONDS - 10_000))).toBe('signature_mismatch');
  });

  it('a webhook is refused with signature_missing for a missing header', async () => {
    for (const signature of [undefined, null, '']) expect(await verdict(signature)).toBe('signature_missing');
  });

  it.each([
    'nonsense',
    'v1=zz',
    'v1=00',
    `t=${NOW_SECONDS}`,
    `v1=${'0'.repeat(64)}`,
    `t=,v1=${'0'.repeat(64)}`,
    `t=-5,v1=${'0'.repeat(64)}`,
    `t=1e9,v1=${'0'.repeat(64)}`,
    `t=1,t=2,v1=${'0'.repeat(64)}`,
    `t=1,v1=${'0'.repeat(63)}`,
    `t=1,v1=${'g'.repeat(64)}`,
    `t=1,v1=${'0'.repeat(64)},v1=`,
  ])('a webhook is refused with signature_malformed for %s', async (signature) => {
    expect(await verdict(signature)).toBe('signature_malformed');
  });
});
