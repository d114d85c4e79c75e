import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DELIVERY_BACKOFF_MS, planNextAttempt, resumeAfter } from '../../src/webhooks/backoff-schedule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Trouble {
  /** How long each attempt takes; at most the client's limit and some time for a worker. */
  attemptMs: number;
  retryAfterMs: number | null;
  random: number;
}

/** When each attempt of a delivery that never succeeds is made, in milliseconds after the first. */
function attemptTimes(troubleAt: (attempt: number) => Trouble): number[] {
  const firstAttemptAtMs = 1_790_000_000_000;
  const times: number[] = [];
  let lastAttempt = false;
  for (let startMs = firstAttemptAtMs; ; ) {
    times.push(startMs - firstAttemptAtMs);
    if (lastAttempt) return times;
    const { attemptMs, retryAfterMs, random } = troubleAt(times.length);
    const attemptsMade = times.length;
    const nowMs = startMs + attemptMs;
    const schedule = { ladderMs: DELIVERY_BACKOFF_MS, attemptsMade, firstAttemptAtMs };
    const next = planNextAttempt({ ...schedule, nowMs, retryAfterMs, random });
    expect(next.dueAtMs).toBeGreaterThanOrEqual(nowMs);
    startMs = next.dueAtMs;
    lastAttempt = next.lastAttempt;
  }
}

const gaps = (times: number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0));

describe('the backoff schedule', () => {
  it('the backoff schedule waits 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and then at most an hour, a day in sum', () => {
    expect(DELIVERY_BACKOFF_MS.slice(0, 7)).toEqual([
      0,
      5_000,
      300_000,
      1_800_000,
      2 * HOUR_MS,
      5 * HOUR_MS,
      10 * HOUR_MS,
    ]);
    expect(Math.max(...DELIVERY_BACKOFF_MS.slice(7))).toBeLessThanOrEqual(HOUR_MS);
    expect(DELIVERY_BACKOFF_MS.reduce((sum, waitMs) => sum + waitMs, 0)).toBe(DAY_MS);
  });

  it('the backoff schedule is followed exactly when an endpoint fails at once', () => {
    const times = attemptTimes(() => ({ attemptMs: 0, retryAfterMs: null, random: 0 }));
    expect(gaps(times)).toEqual(DELIVERY_BACKOFF_MS.slice(1));
  });

  it('all attempts are made, the last exactly a day after the first, whatever their duration and jitter', () => {
    const trouble = fc.record({
      attemptMs: fc.nat(11_000),
      retryAfterMs: fc.constant(null),
      random: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(trouble, { minLength: 14, maxLength: 14 }), (troubles) => {
        const times = attemptTimes((attempt) => troubles[attempt]!);
        expect(times).toHaveLength(DELIVERY_BACKOFF_MS.length);
        expect(times.at(-1)).toBe(DAY_MS);
        expect(Math.max(...gaps(times).slice(6))).toBeLessThanOrEqual(HOUR_MS + 72_000);
      }),
    );
  });

  it('the backoff schedule honours every Retry-After that ends within the day', () => {
    const trouble = fc.record({
      attemptMs: fc.nat(11_000),
      retryAfterMs: fc.option(fc.nat(DAY_MS)),
      random: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(trouble, { minLength: 14, maxLength: 14 }), (troubles) => {
        const times = attemptTimes((attempt) => troubles[attempt]!);
        // The one before it may itself end after the day.
        expect(times.at(-1)).toBeGreaterThanOrEqual(DAY_MS);
        expect(times.at(-1)).toBeLessThanOrEqual(DAY_MS + 11_000);
        expect(times.length).toBeLessThanOrEqual(DELIVERY_BACKOFF_MS.length);
        gaps(times)
          .slice(0, -1)
          .forEach((gapMs, index) => {
            const asked = troubles[index + 1]?.retryAfterMs ?? 0;
            expect(gapMs).toBeGreaterThanOrEqual(Math.max(asked, DELIVERY_BACKOFF_MS[index + 1] ?? 0));
          });
      }),
    );
  });

  it('the backoff schedule spreads deliveries that failed together, by a tenth of the wait and at most a minute', () => {
    const wait = (attemptsMade: number, random: number) =>
      planNextAttempt({
        ladderMs: DELIVERY_BACKOFF_MS,
        attemptsMade,
        firstAttemptAtMs: 0,
        nowMs: 0,
        retryAfterMs: null,
        random,
      }).dueAtMs;
    expect(wait(1, 1)).toBe(5_500);
    expect(wait(2, 0.5)).toBe(315_000);
    expect(wait(6, 1)).toBe(10 * HOUR_MS + 60_000);
  });

  it('the backoff schedule ends with one immediate attempt after an outage that outlasted it', () => {
    const times = attemptTimes((attempt) => ({
      attemptMs: attempt === 3 ? 30 * HOUR_MS : 0,
      retryAfterMs: null,
      random: 0,
    }));
    expect(times).toHaveLength(4);
    expect(times.at(-1)).toBe(30 * HOUR_MS + 305_000);
  });
});

describe('a delivery that lost its workflow', () => {
  const resume = (latest: number, nowMs: number) =>
    resumeAfter({ latest, sent: latest, firstAttemptAtMs: 1_000 }, { ladderMs: DELIVERY_BACKOFF_MS, nowMs });

  it('a delivery that lost its workflow continues with the attempt after the latest, by the schedule of its first', () => {
    expect(resume(3, 1_000 + HOUR_MS)).toEqual({
      attempt: 4,
      lastAttempt: false,
      firstAttemptAtMs: 1_000,
      sent: 3,
      waited: { turns: 0, ms: 0 },
    });
  });

  it('a delivery that lost its workflow makes its last attempt when the schedule has ended or none would follow', () => {
    expect(resume(3, 1_000 + 24 * HOUR_MS)).toMatchObject({ attempt: 4, lastAttempt: true });
    expect(resume(13, 1_000 + HOUR_MS)).toMatchObject({ attempt: 14, lastAttempt: true });
  });
});
