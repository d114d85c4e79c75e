import { describe, expect, it } from '@jest/globals';
import { verifyWebhook, WebhookVerificationError } from '../../src/client/index.ts';
import { newWebhookSecret, signatureHeaders } from '../../src/domain/webhook-signing.ts';

const body = '{"id":"evt_1","object":"event","type":"job.succeeded"}';
const now = 1_800_000_000;
const secret = newWebhookSecret();

/** As the service signs. */
const sign = (...secrets: string[]) =>
  signatureHeaders({ eventId: 'evt_1', body, timestampSeconds: now, secrets })['service-signature'];

describe('a webhook is accepted', () => {
  it('when the service signed it', async () => {
    expect(await verifyWebhook({ body, signature: sign(secret), secret, now })).toMatchObject({ id: 'evt_1' });
  });

  it('with either secret while one replaces the other', async () => {
    const signature = sign(newWebhookSecret(), secret);
    expect(await verifyWebhook({ body, signature, secret, now })).toMatchObject({ id: 'evt_1' });
  });

  it('up to five minutes late', async () => {
    expect(await verifyWebhook({ body, signature: sign(secret), secret, now: now + 300 })).toMatchObject({
      id: 'evt_1',
    });
  });
});

describe('a webhook is refused', () => {
  it.each([
    ['a changed body', { body: `${body} ` }],
    ['another secret', { secret: newWebhookSecret() }],
    ['no signature', { signature: undefined }],
    ['a malformed signature', { signature: 'v1=zz' }],
    ['a signature without a time', { signature: 'v1=00' }],
    ['an old signature', { now: now + 301 }],
    ['a signature from the future', { now: now - 301 }],
  ])('with %s', async (_, change) => {
    await expect(verifyWebhook({ body, signature: sign(secret), secret, now, ...change })).rejects.toBeInstanceOf(
      WebhookVerificationError,
    );
  });
});
