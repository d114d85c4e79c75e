/** One reader for all who follow jobs in a process. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createJobFollower, type FollowedJob } from '../../src/jobs/job-follower.ts';
import type { JobRecord } from '../../src/jobs/job-resource.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { recordLog } from '../support/log-record.ts';

const QUEUED: Omit<JobRecord, 'id'> = {
  endpoint: 'dashboard.read',
  status: 'queued',
  livemode: false,
  isStaging: false,
  createdAt: new Date(0),
  startedAt: null,
  completedAt: null,
  modelVersion: null,
  reservedCredits: 20,
  chargedCredits: 0,
  stages: null,
  testScenario: null,
};

/** The ids that each statement read. */
let read: string[][];
let follower: ReturnType<typeof createJobFollower>;

beforeEach(() => {
  vi.useFakeTimers({ toNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
  read = [];
  const find = async (_entity: unknown, { id: { $in } }: { id: { $in: string[] } }) => {
    read.push($in);
    return $in.map((id) => ({ ...QUEUED, id }));
  };
  follower = createJobFollower({
    orm: { em: { fork: () => ({ find }) } } as unknown as MikroORM,
    settlements: {
      settled: (_jobId, signal) =>
        new Promise((resolve) => signal?.addEventListener('abort', () => resolve(false), { once: true })),
      close: async () => {},
    },
    logger: recordLog().logger,
  });
});
afterEach(() => {
  follower.close();
  vi.useRealTimers();
});

/** Lets the time pass, and the follower tell all its listeners: it yields between them. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
}

it('jobs are read once a second in one statement, however many follow them, and no more once nobody does', async () => {
  const told = new Map<string, number>();
  const listener = (name: string) => (job: FollowedJob) => {
    expect(job.status).toBe('queued');
    told.set(name, (told.get(name) ?? 0) + 1);
  };
  const jobIds = ['job_a', 'job_b', 'job_c'];
  const stops = jobIds.flatMap((jobId) =>
    Array.from({ length: 250 }, (_, index) => follower.follow(jobId, listener(`${jobId} ${index}`))),
  );
  await pass(500);
  const atFirst = read.length;
  expect(atFirst).toBeLessThanOrEqual(jobIds.length);

  for (let second = 1; second <= 5; second += 1) {
    await pass(1_000);
    expect(read.length - atFirst).toBe(second);
    expect(read.at(-1)?.toSorted()).toEqual(jobIds);
  }
  expect(told.size).toBe(750);
  expect(Math.min(...told.values())).toBeGreaterThanOrEqual(5);

  for (const stop of stops) stop();
  const atLast = read.length;
  await pass(10_000);
  expect(read.length).toBe(atLast);
});
