import { describe, expect, it } from 'vitest';
import {
  disabledWhenFailingSince,
  parseRetryAfterMs,
  statusDelivers,
  statusDisables,
} from '../../src/webhooks/response-rules.ts';

const NOW = new Date('2026-10-04T12:00:00Z');
const HOUR_MS = 3_600_000;

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Sun, 04 Oct 2026 12:30:00 GMT', 1_800_000],
  ])('a Retry-After of %s is a pause', (value, pauseMs) => {
    expect(parseRetryAfterMs(value, NOW)).toBe(pauseMs);
  });

  it.each(['99999999999999999999999', '86401', 'Tue, 01 Jan 2030 00:00:00 GMT'])(
    'a Retry-After of %s is a pause of a day',
    (value) => {
      expect(parseRetryAfterMs(value, NOW)).toBe(24 * HOUR_MS);
    },
  );

  it.each([
    undefined,
    '',
    '0',
    '-5',
    '1.5',
    '0x10',
    'soon',
    'Sun, 04 Oct 2026 11:00:00 GMT',
    'Sun, 99 Oct 2026 12:30:00 GMT',
    '2026-10-05',
  ])('a Retry-After of %s requests no pause', (value) => {
    expect(parseRetryAfterMs(value, NOW)).toBeNull();
  });
});

describe('a status', () => {
  it('a status delivers only when it is 2xx', () => {
    const delivering = [200, 201, 202, 204, 299];
    const failing = [null, 100, 199, 300, 301, 302, 304, 307, 308, 400, 404, 410, 429, 500, 503];
    expect(delivering.every(statusDelivers)).toBe(true);
    expect(failing.some(statusDelivers)).toBe(false);
  });

  it('a status disables the endpoint only when it is 410', () => {
    expect(statusDisables(410)).toBe(true);
    expect([null, 200, 404, 409, 411, 500].some(statusDisables)).toBe(false);
  });
});

it('a day of failures, less a minute of tolerance, disables the endpoint', () => {
  const threshold = disabledWhenFailingSince(NOW).getTime();
  expect(NOW.getTime() - threshold).toBeLessThanOrEqual(24 * HOUR_MS);
  expect(NOW.getTime() - threshold).toBeGreaterThanOrEqual(24 * HOUR_MS - 60_000);
});
