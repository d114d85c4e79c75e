/** What the response to a delivery attempt means for its endpoint and for the next attempt. */

/** A receiver must send its complete response within this time. */
export const RESPONSE_TIMEOUT_MS = 10_000;

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * A failure at `now` disables an endpoint that has been failing since this moment or earlier: a day.
 *
 * The last attempt of a delivery is made a day after its first, give or take the time either waited for a worker; a
 * minute of tolerance covers that.
 */
export function disabledWhenFailingSince(now: Date): Date {
  return new Date(now.getTime() - DAY_MS + 60_000);
}

/** `410 Gone`: the receiver says that the endpoint is permanently gone. */
export function statusDisables(statusCode: number | null): boolean {
  return statusCode === 410;
}

/** Only 2xx delivers. A redirect fails: it could lead to an address the endpoint's owner never chose. */
export function statusDelivers(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode <= 299;
}

/** The only date form of RFC 9110 that senders may generate: `Sun, 06 Nov 1994 08:49:37 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The pause in milliseconds requested by `Retry-After` (RFC 9110 §10.2.3: seconds or a date), at most a day. Null when it
 * requests none or is malformed: a receiver's mistake must not stop its deliveries.
 */
export function parseRetryAfterMs(value: string | undefined, now: Date): number | null {
  const text = value?.trim() ?? '';
  let pauseMs = Number.NaN;
  if (/^\d+$/.test(text)) pauseMs = Number(text) * 1_000;
  else if (HTTP_DATE.test(text)) pauseMs = Date.parse(text) - now.getTime();
  return pauseMs > 0 ? Math.min(pauseMs, DAY_MS) : null;
}
