/**
 * Signs webhook deliveries; `verifyWebhook` of src/client verifies them.
 *
 * Every delivery carries two signatures. `Service-Signature: t=<unix>,v1=<hex>` is keyed with the secret's text, `whsec_`
 * included. The `webhook-*` headers follow Standard Webhooks (standardwebhooks.com), so receivers can use its libraries;
 * they are keyed with the bytes that the secret encodes.
 */
import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
/** Standard Webhooks allows 24 to 64. */
const SECRET_BYTES = 32;

/** Creates a signing secret: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

interface MessageToSign {
  eventId: string;
  /** The exact bytes of the request's body. */
  body: string;
  timestampSeconds: number;
  /** Every active secret; during a rotation the receiver may hold either. */
  secrets: readonly string[];
}

/** The headers by which a receiver verifies sender and time. */
export function signatureHeaders({ eventId, body, timestampSeconds, secrets }: MessageToSign): Record<string, string> {
  const own = secrets.map((secret) => `v1=${serviceSignature(secret, timestampSeconds, body)}`);
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    const digest = createHmac('sha256', key).update(`${eventId}.${timestampSeconds}.${body}`).digest('base64');
    return `v1,${digest}`;
  });
  return {
    'service-signature': [`t=${timestampSeconds}`, ...own].join(','),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': standard.join(' '),
  };
}

function serviceSignature(secret: string, timestampSeconds: number, body: string): string {
  return createHmac('sha256', secret).update(`${timestampSeconds}.`).update(body).digest('hex');
}
