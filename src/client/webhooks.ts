/** Verifies that a webhook was sent by the service. */
import type { WebhookEvent } from './types.ts';

/** Allowed difference between the clocks of sender and receiver. Older messages may be replays. */
export const SIGNATURE_TOLERANCE_SECONDS = 300;

export type WebhookVerificationErrorCode =
  /** The request has no `Service-Signature`. */
  | 'signature_missing'
  /** The header is not of the form `t=<unix>,v1=<hex>`. */
  | 'signature_malformed'
  /** No signature in the header was made with this secret over this body. */
  | 'signature_mismatch'
  /** Correctly signed, but too far from the receiver's clock: a replay, or a wrong clock. */
  | 'timestamp_out_of_tolerance';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookVerificationErrorCode;

  constructor(code: WebhookVerificationErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

interface Delivery {
  /** The raw body: parsed and serialised again, it would not match. */
  body: string | Uint8Array<ArrayBuffer>;
  /** Value of the header `Service-Signature`. */
  signature: string | null | undefined;
  /** The endpoint's signing secret, `whsec_…`. */
  secret: string;
  /** Epoch seconds; defaults to the current time. */
  now?: number;
}

/**
 * Verifies the signature of a delivery, `t=<unix>,v1=<hex HMAC-SHA256(secret, t + "." + body)>` with one `v1` per active
 * secret, and returns its event.
 * @throws WebhookVerificationError
 */
export async function verifyWebhook({
  body,
  signature,
  secret,
  now = Date.now() / 1000,
}: Delivery): Promise<WebhookEvent> {
  if (!signature) {
    throw new WebhookVerificationError('signature_missing', 'the request has no Service-Signature header');
  }
  const { timestamp, signatures } = parseHeader(signature);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  // Before the age: an unverified timestamp proves nothing.
  if (!(await isSignedBy(secret, await new Blob([`${timestamp}.`, bytes]).arrayBuffer(), signatures))) {
    throw new WebhookVerificationError('signature_mismatch', 'no signature was made with this secret over this body');
  }
  if (Math.abs(now - Number(timestamp)) > SIGNATURE_TOLERANCE_SECONDS) {
    throw new WebhookVerificationError(
      'timestamp_out_of_tolerance',
      `the message was signed ${Math.round(now - Number(timestamp))} s ago; ${SIGNATURE_TOLERANCE_SECONDS} s are allowed`,
    );
  }
  return JSON.parse(text) as WebhookEvent;
}

async function isSignedBy(
  secret: string,
  message: ArrayBuffer,
  signatures: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify']);
  for (const signature of signatures) {
    // Compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, signature, message)) return true;
  }
  return false;
}

/** Ignores elements other than `t` and `v1`, so that later signature versions can be added beside them. */
function parseHeader(header: string): { timestamp: string; signatures: Uint8Array<ArrayBuffer>[] } {
  const elements = header.split(',').map((element) => element.trim());
  const valuesOf = (name: string) =>
    elements.filter((element) => element.startsWith(`${name}=`)).map((element) => element.slice(name.length + 1));

  const [timestamp, ...moreTimestamps] = valuesOf('t');
  const signatures = valuesOf('v1');
  if (
    timestamp === undefined ||
    moreTimestamps.length > 0 ||
    !/^[1-9]\d{0,14}$/.test(timestamp) ||
    signatures.length === 0 ||
    !signatures.every((signature) => /^[0-9a-f]{64}$/.test(signature))
  ) {
    throw new WebhookVerificationError('signature_malformed', 'Service-Signature is not of the form t=<unix>,v1=<hex>');
  }
  return { timestamp, signatures: signatures.map(fromHex) };
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/[0-9a-f]{2}/g) ?? [], (byte) => Number.parseInt(byte, 16));
}
