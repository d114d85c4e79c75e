import { describe, expect, it } from 'vitest';
import type { Job } from '../../src/jobs/entities.ts';
import { planTransition } from '../../src/jobs/settlement.ts';
import { isId, newId } from '../../src/platform/ids.ts';
import { SUCCESS } from '../support/jobs.ts';

const jobOf = (id: string, status = 'processing') =>
  ({
    id,
    endpoint: 'dashboard.read',
    status,
    livemode: false,
    isStaging: false,
    testScenario: null,
    reservedCredits: 20,
    chargedCredits: 0,
    modelVersion: 'model-of-tests@2026-01-01',
    stages: null,
    requestId: newId('request'),
    idempotencyKey: null,
    createdAt: new Date('2026-12-01T12:00:00Z'),
    startedAt: new Date('2026-12-01T12:00:01Z'),
    completedAt: null,
  }) as unknown as Job;
const job = jobOf(newId('job'));

describe('a settlement that is repeated after PostgreSQL lost the first one', () => {
  const settleAt = (time: string, of = job) =>
    planTransition({ job: of, outcome: SUCCESS, listeners: [] }, null, new Date(time)).event;

  it('a repeated settlement gives the event the same id, in its row and in its payload', () => {
    const [first, second] = [settleAt('2026-12-01T12:00:05Z'), settleAt('2026-12-01T12:00:09Z')];
    expect(first).not.toBeNull();
    expect(second?.id).toBe(first?.id);
    expect(isId('event', first?.id ?? '')).toBe(true);
    expect(JSON.parse(second?.payload ?? '')).toMatchObject({ id: first?.id });
  });

  it('settlements of different jobs give their events different ids', () => {
    expect(settleAt('2026-12-01T12:00:05Z', jobOf(newId('job')))?.id).not.toBe(settleAt('2026-12-01T12:00:05Z')?.id);
  });
});

it.each(['job_expired', 'job_stopped'] as const)(
  '%s ends a queued job only: a pick-up in the meantime wins',
  (failure) => {
    const queued = jobOf(newId('job'), 'queued');
    const { from, to } = planTransition({ job: queued, outcome: null, listeners: [] }, failure, new Date());
    expect([from, to]).toEqual([['queued'], failure === 'job_expired' ? 'expired' : 'canceled']);
  },
);
