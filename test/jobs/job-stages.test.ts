import { expect, test } from 'vitest';
import type { JobStage } from '../../src/contracts/job.ts';
import type { PlannedStage } from '../../src/contracts/run-bundle.ts';
import { advancedStages, queuedStages, shownStages } from '../../src/jobs/job-stages.ts';

const NOON = new Date('2026-12-01T12:00:00.000Z');
const STOPPED = { type: 'processing_error', code: 'job_stopped', message: 'Stopped.' } as const;
const request = { parameters: {}, files: [] };
const stages = ['intake', 'merge', 'report'];
const planned = (name: string, priceCredits: number): PlannedStage => ({
  name,
  after: [],
  isOptional: false,
  units: 4,
  unitName: 'views',
  unitsPerActivity: 2,
  taskQueue: 'inference-gpu',
  priceCredits,
});

test('an endpoint without stages shows none', () => {
  expect(queuedStages({}, request)).toBeNull();
});

test('each stage is queued with its held credits; one without a price is skipped', () => {
  const queued = queuedStages({ stages, stagePlan: () => [planned('intake', 30), planned('merge', 0)] }, request);
  expect(queued?.map(({ name, status, credits }) => [name, status, credits])).toEqual([
    ['intake', 'queued', { reserved: 30, charged: 0 }],
    ['merge', 'queued', { reserved: 0, charged: 0 }],
    ['report', 'skipped', { reserved: 0, charged: 0 }],
  ]);
  expect(queuedStages({ stages }, request)?.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued']);
});

test.each(['failed', 'expired', 'canceled'] as const)('in a job that is %s no stage is queued or running', (status) => {
  const [first, second, third] = queuedStages({ stages }, request) ?? [];
  if (!first || !second || !third) throw new Error('three stages were stated');
  const shown = shownStages([{ ...first, status: 'succeeded' }, { ...second, status: 'processing' }, third], {
    status,
    completedAt: NOON,
    error: STOPPED,
  });
  expect(shown.map((stage) => stage.status)).toEqual(['succeeded', 'failed', 'skipped']);
});

test('a running stage fails with its job’s error, and a failed job charges no stage', () => {
  const [first, second] = queuedStages({ stages }, request) ?? [];
  if (!first || !second) throw new Error('three stages were stated');
  const credits = { reserved: 50, charged: 40 };
  const kept: JobStage[] = [
    { ...first, status: 'succeeded', started_at: 10, completed_at: 20, credits },
    { ...second, status: 'processing', started_at: 20, credits },
  ];
  const end = { status: 'failed', completedAt: NOON, error: STOPPED } as const;
  const shown = shownStages(kept, end);
  const uncharged = { reserved: 50, charged: 0 };
  expect(shown).toMatchObject([
    { status: 'succeeded', completed_at: 20, error: null, credits: uncharged },
    { status: 'failed', started_at: 20, completed_at: NOON.getTime() / 1_000, error: STOPPED, credits: uncharged },
  ]);
  expect(shownStages(shown, end)).toEqual(shown);
});

test('a stage of which some units failed is partial, with the error; one that succeeded carries none', () => {
  const queued = queuedStages({ stages }, request) ?? [];
  const ended = (name: string, failedUnits: number) => ({
    name,
    status: failedUnits === 4 ? ('failed' as const) : ('succeeded' as const),
    units: 4,
    begunUnits: 4,
    endedUnits: 4,
    failedUnits,
    foundUnits: 0,
    chargedCredits: 0,
    startedAt: 10,
    completedAt: 20,
    error: failedUnits > 0 ? ('input_unreadable' as const) : null,
  });
  const unreadable = { type: 'processing_error', code: 'input_unreadable', message: 'Send it again.' } as const;
  const progress = [ended('intake', 0), ended('merge', 1), ended('report', 4)];
  const shown = advancedStages(queued, progress, { merge: unreadable, report: unreadable });
  expect(shown.map(({ status, progress: share, error }) => [status, share, error])).toEqual([
    ['succeeded', 1, null],
    ['partial', 0.75, unreadable],
    ['failed', 0, unreadable],
  ]);
  expect(shownStages(shown, { status: 'partial', completedAt: NOON })).toEqual(shown);
});

test('a running job shows its stages unchanged', () => {
  const queued = queuedStages({ stages }, request) ?? [];
  expect(shownStages(queued, { status: 'processing', completedAt: null })).toEqual(queued);
});
