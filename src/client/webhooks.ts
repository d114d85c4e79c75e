/** Checks that a webhook came from the service. */
import type { WebhookEvent } from './types.ts';

/** How far the clocks of sender and receiver may differ; older messages could be replayed by an eavesdropper. */
const TOLERANCE_SECONDS = 300;

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

interface Delivery {
  /** The body exactly as it came: parsed and written again it would not match. */
  body: string;
  /** Value of the header `Service-Signature`. */
  signature: string | null | undefined;
  /** The endpoint's signing secret, `whsec_…`. */
  secret: string;
  /** Epoch seconds; the clock's, unless given. */
  now?: number;
}

/**
 * Answers the event of a delivery whose signature is right: `t=<unix>,v1=<hex HMAC-SHA256(secret, t + "." + body)>`, with
 * one `v1` for each active secret.
 * @throws WebhookVerificationError
 */
export async function verifyWebhook({
  body,
  signature,
  secret,
  now = Date.now() / 1000,
}: Delivery): Promise<WebhookEvent> {
  const fields = (signature ?? '')
    .split(',')
    .map((field) => field.trim().split('=', 2) as [string, string | undefined]);
  const timestamp = fields.find(([name]) => name === 't')?.[1];
  const candidates = fields.flatMap(([name, value]) => (name === 'v1' && value ? [fromHex(value)] : []));
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp) || candidates.length === 0) {
    throw new WebhookVerificationError('the header Service-Signature is missing or malformed');
  }
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError('the signature is too old, or the clocks differ');
  }
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['verify']);
  const message = encoder.encode(`${timestamp}.${body}`);
  for (const candidate of candidates) {
    // Compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, candidate, message)) return JSON.parse(body) as WebhookEvent;
  }
  throw new WebhookVerificationError('the signature does not match: another secret, or a changed body');
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/[0-9a-f]{2}/g) ?? [], (byte) => Number.parseInt(byte, 16));
}
