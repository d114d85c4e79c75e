import { describe, expect, it } from 'vitest';
import { endedJob, type JobRecord, renderJob } from '../../src/jobs/job-resource.ts';
import { epochSeconds } from '../../src/platform/epoch-seconds.ts';

const queued: JobRecord = {
  id: 'job_1ChFrxwW3km3Lo3xDHYKix',
  endpoint: 'dashboard.read',
  status: 'queued',
  livemode: true,
  isStaging: false,
  createdAt: new Date('2026-12-01T12:00:00.999Z'),
  startedAt: null,
  completedAt: null,
  modelVersion: null,
  reservedCredits: 20,
  chargedCredits: 0,
  stages: null,
  testScenario: null,
};

it('a queued job has every required field of the specification and no optional one', () => {
  expect(renderJob(queued)).toEqual({
    id: queued.id,
    object: 'job',
    endpoint: 'dashboard.read',
    status: 'queued',
    livemode: true,
    is_staging: false,
    created: 1796126400,
    started_at: null,
    completed_at: null,
    model_version: null,
    credits: { reserved: 20, charged: 0 },
    result: null,
    error: null,
  });
});

it('the fields of a job have a fixed order, so that equal jobs are equal bytes', () => {
  const shuffled = Object.fromEntries(Object.entries(queued).reverse()) as unknown as JobRecord;
  expect(JSON.stringify(renderJob(shuffled))).toBe(JSON.stringify(renderJob(queued)));
});

it('an ended job shows its times in whole seconds, rounded down', () => {
  const job = renderJob({
    ...queued,
    status: 'succeeded',
    startedAt: new Date('2026-12-01T12:00:01.001Z'),
    completedAt: new Date('2026-12-01T12:00:02.999Z'),
    modelVersion: 'dashboard-reader@2026-11-21',
    chargedCredits: 20,
    result: { cluster_lit: true },
  });
  expect(job).toMatchObject({
    status: 'succeeded',
    started_at: 1796126401,
    completed_at: 1796126402,
    model_version: 'dashboard-reader@2026-11-21',
    credits: { reserved: 20, charged: 20 },
    result: { cluster_lit: true },
    error: null,
  });
});

it('the epoch is a time, not a missing value', () => {
  expect(renderJob({ ...queued, startedAt: new Date(0) }).started_at).toBe(0);
  expect(epochSeconds(new Date(999))).toBe(0);
});

describe('fields that are absent elsewhere', () => {
  it('test_scenario appears on steered jobs', () => {
    expect(renderJob({ ...queued, testScenario: 'slow' }).test_scenario).toBe('slow');
  });

  it('stages appear on jobs that run in stages, even when empty', () => {
    expect(renderJob({ ...queued, stages: [] }).stages).toEqual([]);
  });
});

it('a result that is false or 0 is a result', () => {
  expect(renderJob({ ...queued, result: false }).result).toBe(false);
  expect(renderJob({ ...queued, result: 0 }).result).toBe(0);
});

it('ending a job keeps its other fields', () => {
  const completedAt = new Date('2026-12-01T12:00:05Z');
  const end = { status: 'failed', result: null, error: null, stages: null, chargedCredits: 0, completedAt } as const;
  expect(endedJob(queued, end)).toEqual({ ...queued, ...end });
});
