/** What the outcome of a delivery attempt means for its endpoint and for the next attempt. */

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * An endpoint that fails since this moment, or longer, is disabled by a failure at `now`: it had a day.
 *
 * The last attempt of a delivery lies a day after its first, give or take the time both waited for a worker, so a
 * minute is forgiven.
 */
export function disabledWhenFailingSince(now: Date): Date {
  return new Date(now.getTime() - DAY_MS + 60_000);
}

/** `410 Gone`: the receiver says that the endpoint is no more, so further attempts are pointless. */
export function statusDisables(statusCode: number | null): boolean {
  return statusCode === 410;
}

/** Only 2xx is a delivery. A redirect is a failure: it could lead where the endpoint's owner never pointed. */
export function statusDelivers(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode <= 299;
}

/** The one form of RFC 9110 that is still sent: `Sun, 06 Nov 1994 08:49:37 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The pause a `Retry-After` asks for (RFC 9110 §10.2.3: seconds or a date), at most a day. Null when it asks for none or
 * can't be read: a receiver's mistake must not stop its deliveries.
 */
export function parseRetryAfterMs(value: string | undefined, now: Date): number | null {
  const text = value?.trim() ?? '';
  let pauseMs = Number.NaN;
  if (/^\d+$/.test(text)) pauseMs = Number(text) * 1_000;
  else if (HTTP_DATE.test(text)) pauseMs = Date.parse(text) - now.getTime();
  return pauseMs > 0 ? Math.min(pauseMs, DAY_MS) : null;
}
