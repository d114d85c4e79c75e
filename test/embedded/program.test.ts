/** What a program's start and end do to the process that supervises it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { findOrphans, ProcessRecord } from '../../src/embedded/process-record.ts';
import { type RunningProgram, startProgram } from '../../src/embedded/program.ts';

let directory: string;
let recordPath: string;
let record: ProcessRecord;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'program-'));
  recordPath = join(directory, 'record', 'processes.json');
  record = new ProcessRecord(recordPath);
});

function sleeper(name: string): Promise<RunningProgram> {
  return startProgram({
    name,
    command: 'sleep',
    args: ['60'],
    environment: process.env,
    logPath: join(directory, 'program.log'),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    record,
  });
}

it('a program whose end cannot be recorded ends as any other', async () => {
  mkdirSync(join(directory, 'record'));
  const program = await sleeper('API');
  rmSync(join(directory, 'record'), { recursive: true });
  expect(await program.stop()).toEqual({ code: null, signal: 'SIGTERM' });
});

it('a program that cannot be recorded runs, and can be stopped', async () => {
  const program = await sleeper('API');
  expect(await program.stop()).toEqual({ code: null, signal: 'SIGTERM' });
});

it('what could not be recorded is killed with the others, and recorded with the next', async () => {
  const first = await sleeper('API');
  mkdirSync(join(directory, 'record'));
  const second = await sleeper('Worker');
  expect(findOrphans(recordPath).map(({ name }) => name)).toEqual(['API', 'Worker']);
  record.killAll();
  const killed = { code: null, signal: 'SIGKILL' };
  expect(await Promise.all([first.exited, second.exited])).toEqual([killed, killed]);
});
