import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type RunningProgram, startProgram, waitUntilReady } from '../../src/embedded/program.ts';
import { Supervised } from '../../src/embedded/supervised.ts';

const QUICK = { firstDelayMs: 1, longestDelayMs: 5, healthyAfterMs: 60_000, failureLimit: 3 };
const never = new AbortController().signal;
let logPath: string;
let reports: string[];

beforeEach(() => {
  logPath = join(mkdtempSync(join(tmpdir(), 'supervised-')), 'program.log');
  reports = [];
});

function program(script: string): Promise<RunningProgram> {
  return startProgram({
    name: 'Sleeper',
    command: 'sh',
    args: ['-c', script],
    environment: process.env,
    logPath,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
  });
}

/** Resolves with the first report that contains the text. */
function watch(text: string) {
  let found: (line: string) => void = () => {};
  const seen = new Promise<string>((resolve) => {
    found = resolve;
  });
  const report = (line: string) => {
    reports.push(line);
    if (line.includes(text)) found(line);
  };
  return { seen, report };
}

it('a program that ends is restarted', async () => {
  const { seen, report } = watch('runs again');
  const start = () => program('exec sleep 60');
  const supervised = await Supervised.start(
    { name: 'Sleeper', start, report, onGivenUp: report as never, policy: QUICK },
    never,
  );
  const { pid } = supervised;
  process.kill(pid as number, 'SIGKILL');
  await seen;
  expect(reports[0]).toBe('Sleeper ended (signal SIGKILL); starting it again.');
  expect(supervised.pid).not.toBe(pid);
  await supervised.stop();
});

it('a program that keeps failing is given up, and the end of its log shown', async () => {
  const givenUp = await new Promise<Error>((resolve, reject) => {
    let starts = 0;
    const start = async () => {
      starts += 1;
      const started = await program(starts === 1 ? 'exit 1' : 'echo "no licence" >&2; exit 3');
      if (starts > 1) await waitUntilReady(started, () => false, { timeoutMs: 60_000, logPath });
      return started;
    };
    Supervised.start({ name: 'Sleeper', start, report: () => {}, onGivenUp: resolve, policy: QUICK }, never).catch(
      reject,
    );
  });
  expect(givenUp.message).toContain('Sleeper failed 3 times in a row and is given up.');
  expect(givenUp.message).toContain('ended during its start (exit code 3)');
  expect(givenUp.message).toContain('no licence');
});

it('the last output of a program is read before its end is reported', async () => {
  const talkative = await program('seq 100000');
  await talkative.exited;
  expect(talkative.logTail().split('\n').at(-1)).toBe('100000');
});

it('a program that a restart makes ready after the stop is stopped', async () => {
  const restarting = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const programs: RunningProgram[] = [];
  const start = async () => {
    if (programs.length > 0) {
      restarting.resolve();
      await stopped.promise;
    }
    const started = await program('exec sleep 60');
    programs.push(started);
    return started;
  };
  const { report } = watch('');
  const supervised = await Supervised.start(
    { name: 'Sleeper', start, report, onGivenUp: report as never, policy: QUICK },
    never,
  );
  process.kill(supervised.pid as number, 'SIGKILL');
  await restarting.promise;
  const stopping = supervised.stop();
  stopped.resolve();
  await stopping;
  expect(programs.map(({ running }) => running)).toEqual([false, false]);
  expect(reports).toEqual(['Sleeper ended (signal SIGKILL); starting it again.']);
});

it('a stopped program is not restarted', async () => {
  let starts = 0;
  const start = () => {
    starts += 1;
    return program('exec sleep 60');
  };
  const { report } = watch('');
  const supervised = await Supervised.start(
    { name: 'Sleeper', start, report, onGivenUp: report as never, policy: QUICK },
    never,
  );
  await supervised.stop();
  expect(starts).toBe(1);
  expect(supervised.pid).toBeNull();
  expect(reports).toEqual([]);
});

it('a program that ignores the stop signal is killed', async () => {
  const stubborn = await startProgram({
    name: 'Stubborn',
    command: process.execPath,
    args: ['-e', `process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1e3)`],
    environment: process.env,
    logPath,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 100,
  });
  await waitUntilReady(stubborn, () => stubborn.logTail().includes('up'), { timeoutMs: 60_000, logPath });
  expect(await stubborn.stop()).toEqual({ code: null, signal: 'SIGKILL' });
});

it('an aborted start stops its program', async () => {
  const interruption = new AbortController();
  let started: RunningProgram | undefined;
  const start = async (signal: AbortSignal) => {
    started = await program('exec sleep 60');
    interruption.abort();
    await waitUntilReady(started, () => false, { timeoutMs: 60_000, logPath, signal });
    return started;
  };
  const { report } = watch('');
  const options = { name: 'Sleeper', start, report, onGivenUp: report as never };
  await expect(Supervised.start(options, interruption.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(started?.running).toBe(false);
});
