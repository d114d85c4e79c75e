import { expect, test } from '@jest/globals';
import type { PlannedStage } from '../../src/contracts/run-stages.ts';
import { queuedStages, shownStages } from '../../src/domain/job-stages.ts';

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

test('an endpoint without stages has none', () => {
  expect(queuedStages({}, request)).toBeNull();
});

test('each stage waits with what is held for it; one without a price is skipped', () => {
  const queued = queuedStages({ stages, stagePlan: () => [planned('intake', 30), planned('merge', 0)] }, request);
  expect(queued?.map(({ name, status, credits }) => [name, status, credits])).toEqual([
    ['intake', 'queued', { reserved: 30, charged: 0 }],
    ['merge', 'queued', { reserved: 0, charged: 0 }],
    ['report', 'skipped', { reserved: 0, charged: 0 }],
  ]);
  expect(queuedStages({ stages }, request)?.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued']);
});

test.each(['failed', 'expired', 'canceled'] as const)('in a job that is %s no stage waits or goes on', (status) => {
  const [first, second, third] = queuedStages({ stages }, request) ?? [];
  if (!first || !second || !third) throw new Error('three stages were stated');
  const shown = shownStages([{ ...first, status: 'succeeded' }, { ...second, status: 'processing' }, third], status);
  expect(shown.map((stage) => stage.status)).toEqual(['succeeded', 'failed', 'skipped']);
});

test('a job that goes on shows its stages as they are', () => {
  const queued = queuedStages({ stages }, request) ?? [];
  expect(shownStages(queued, 'processing')).toEqual(queued);
});
