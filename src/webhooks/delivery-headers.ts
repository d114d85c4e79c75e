import { signatureHeaders } from './signing.ts';

const USER_AGENT = 'vehicle-inference-service-webhooks/1';

/** The request headers of a delivery, signed with every active secret. */
export function deliveryHeaders(
  event: { id: string; payload: string },
  secrets: readonly string[],
  now: Date,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    ...signatureHeaders({
      eventId: event.id,
      body: event.payload,
      timestampSeconds: Math.floor(now.getTime() / 1_000),
      secrets,
    }),
  };
}
