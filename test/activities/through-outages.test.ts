/** An outage of PostgreSQL costs an inference no attempt, and nothing that it found. */

import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { throughOutages } from '../../src/activities/through-outages.ts';

const environment = () => new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const shuttingDown = () => new Error('driver', { cause: Object.assign(new Error('shutdown'), { code: '57P01' }) });

describe('work while PostgreSQL is down', () => {
  it('work is repeated while PostgreSQL is down, with growing pauses of at most two seconds, until it succeeds', async () => {
    const failures = [refused(), shuttingDown(), ...Array.from({ length: 6 }, refused)];
    const pauses: number[] = [];
    const work = async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return 'done';
    };
    const pause = async (pauseMs: number) => void pauses.push(pauseMs);
    expect(await environment().run(() => throughOutages(work, pause))).toBe('done');
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
  });

  it('work is no longer repeated when the activity is cancelled while PostgreSQL is down', async () => {
    const activity = environment();
    let tries = 0;
    const work = async () => {
      tries += 1;
      throw refused();
    };
    const pause = async () => activity.cancel();
    await expect(activity.run(() => throughOutages(work, pause))).rejects.toThrow();
    expect(tries).toBe(1);
  });
});

it('work is not repeated after any failure but an outage of PostgreSQL', async () => {
  let tries = 0;
  const work = async () => {
    tries += 1;
    throw Object.assign(new Error('duplicate key'), { code: '23505' });
  };
  await expect(environment().run(() => throughOutages(work))).rejects.toThrow('duplicate key');
  expect(tries).toBe(1);
});
