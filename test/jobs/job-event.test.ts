import { describe, expect, it } from 'vitest';
import { API_VERSION } from '../../src/contracts/api-version.ts';
import { EVENT_TYPES, TERMINAL_JOB_STATUSES } from '../../src/contracts/job.ts';
import { eventTypeOf, renderEvent } from '../../src/jobs/job-event.ts';
import { renderJob } from '../../src/jobs/job-resource.ts';

describe('the event of a terminal status', () => {
  it.each([
    ['succeeded', 'job.succeeded'],
    ['partial', 'job.partial'],
    ['failed', 'job.failed'],
    ['expired', 'job.failed'],
    ['canceled', null],
  ] as const)('the event of a job that ends %s is %s', (status, type) => expect(eventTypeOf(status)).toBe(type));

  it('an event is one of the three types that webhooks subscribe to, and every type occurs', () => {
    const types = new Set(TERMINAL_JOB_STATUSES.map(eventTypeOf));
    expect([...types].filter((type) => type !== null).sort()).toEqual([...EVENT_TYPES].sort());
  });
});

it('an event carries the job as read and the request that created it', () => {
  const job = renderJob({
    id: 'job_1ChFrxwW3km3Lo3xDHYKix',
    endpoint: 'dashboard.read',
    status: 'succeeded',
    livemode: true,
    isStaging: true,
    createdAt: new Date('2026-12-01T12:00:00Z'),
    startedAt: new Date('2026-12-01T12:00:01Z'),
    completedAt: new Date('2026-12-01T12:00:02Z'),
    modelVersion: 'dashboard-reader@2026-11-21',
    reservedCredits: 20,
    chargedCredits: 20,
    result: { label: 'Ölstand' },
    stages: null,
    testScenario: null,
  });
  const payload = renderEvent({
    id: 'evt_1',
    type: 'job.succeeded',
    createdAt: new Date('2026-12-01T12:00:02.500Z'),
    job,
    requestId: 'req_1',
    idempotencyKey: 'order-4711',
  });
  expect(JSON.parse(payload)).toEqual({
    id: 'evt_1',
    object: 'event',
    type: 'job.succeeded',
    created: 1796126402,
    livemode: true,
    is_staging: true,
    api_version: API_VERSION,
    data: { object: job },
    request: { id: 'req_1', idempotency_key: 'order-4711' },
  });
});
