/**
 * Signatures of webhook deliveries: made by the service, checked by the receiver.
 *
 * Two forms travel side by side. `Service-Signature: t=<unix>,v1=<hex>` is the service's own; its key is the secret as
 * the customer sees it. The `webhook-*` headers follow Standard Webhooks (standardwebhooks.com), so that a receiver can
 * use any of its libraries; their key is what the secret encodes.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
/** Standard Webhooks wants 24 to 64. */
const SECRET_BYTES = 32;

/** How far the clocks of sender and receiver may differ; older messages could be replayed by an eavesdropper. */
export const SIGNATURE_TOLERANCE_SECONDS = 300;

/** A new signing secret: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

interface MessageToSign {
  eventId: string;
  /** The exact bytes of the request's body. */
  body: string;
  timestampSeconds: number;
  /** Every active secret: during a rotation the receiver may hold either. */
  secrets: readonly string[];
}

/** The headers that prove to the receiver who sent the message, and when. */
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

function serviceSignature(secret: string, timestampSeconds: number, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(`${timestampSeconds}.`).update(body).digest('hex');
}

export type SignatureErrorCode =
  /** The request has no `Service-Signature`: it didn't come from the service. */
  | 'signature_missing'
  /** The header is not `t=<unix>,v1=<hex>`. */
  | 'signature_malformed'
  /** No signature in the header was made with this secret over this body. */
  | 'signature_mismatch'
  /** Signed rightly, but too long ago or ahead of the receiver's clock: a replay, or a clock that is wrong. */
  | 'timestamp_out_of_tolerance';

export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';
  readonly code: SignatureErrorCode;

  constructor(code: SignatureErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

interface MessageToVerify {
  /** The value of `Service-Signature`. */
  header: string | undefined;
  /** The body as it came, before any parsing. */
  body: string | Uint8Array;
  /** The endpoint's signing secret, `whsec_…`. */
  secret: string;
  nowSeconds: number;
  toleranceSeconds?: number;
}

/** Proves that a message is the service's and fresh. @throws WebhookSignatureError */
export function verifyServiceSignature({
  header,
  body,
  secret,
  nowSeconds,
  toleranceSeconds = SIGNATURE_TOLERANCE_SECONDS,
}: MessageToVerify): void {
  if (header === undefined || header === '') {
    throw new WebhookSignatureError('signature_missing', 'the request has no Service-Signature header');
  }
  const { timestampSeconds, signatures } = parseHeader(header);
  const expected = Buffer.from(serviceSignature(secret, timestampSeconds, body), 'hex');
  // Before the age: what the header claims about time counts only once it is known to be the service's.
  if (!signatures.some((signature) => timingSafeEqual(signature, expected))) {
    throw new WebhookSignatureError('signature_mismatch', 'no signature was made with this secret over this body');
  }
  if (Math.abs(nowSeconds - timestampSeconds) > toleranceSeconds) {
    throw new WebhookSignatureError(
      'timestamp_out_of_tolerance',
      `the message was signed ${nowSeconds - timestampSeconds} s ago, and ${toleranceSeconds} s are allowed`,
    );
  }
}

/** Elements other than `t` and `v1` are ignored: later forms of the signature will come beside them. */
function parseHeader(header: string): { timestampSeconds: number; signatures: Buffer[] } {
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
    throw new WebhookSignatureError('signature_malformed', 'Service-Signature is not of the form t=<unix>,v1=<hex>');
  }
  return {
    timestampSeconds: Number(timestamp),
    signatures: signatures.map((signature) => Buffer.from(signature, 'hex')),
  };
}
