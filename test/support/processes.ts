/** Starts, kills and stops the project's own processes. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { ProcessRecord } from '../../src/embedded/process-record.ts';
import { type ProgramExit, type RunningProgram, startProgram, waitUntilReady } from '../../src/embedded/program.ts';

export const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));

export interface ProcessToStart {
  /** From the project's root: `src/api/main.ts`. */
  entry: string;
  /** In place of the project's root: a copy of it. */
  directory?: string;
  args?: string[];
  /** Added to this process's own. */
  environment?: NodeJS.ProcessEnv;
  /** Readiness: a line that it writes, or an address that returns 2xx. Without it, the start does not wait. */
  ready?: { line: (line: string) => boolean } | { url: string };
  readyTimeoutMs?: number;
}

export interface TestProcess {
  pid: number;
  /** Everything it has written so far. */
  lines: readonly string[];
  exited: Promise<ProgramExit>;
  /** Resolves with the first matching line, past or future; rejects if the process ends or the time passes first. */
  waitForLine(fits: (line: string) => boolean, timeoutMs: number): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<ProgramExit>;
}

export interface TestProcesses {
  start(process: ProcessToStart): Promise<TestProcess>;
}

/** A time-out means a hang: a supervisor that is killed leaves the processes running that it was still stopping. */
const STOP_TIMEOUT_MS = 240_000;

/**
 * Call it at the top of a test file: its processes are gone when the file ends. Processes that outlive
 * even that (a killed jest worker runs no `afterAll`) are in the record of `npm test`, which stops and reports them.
 */
export function useProcesses(): TestProcesses {
  const directory = mkdtempSync(join(tmpdir(), 'processes-'));
  const record = new ProcessRecord(join(directory, 'processes.json'));
  const started: RunningProgram[] = [];

  afterAll(async () => {
    await Promise.all(started.map((program) => program.stop()));
  }, 2 * STOP_TIMEOUT_MS);

  return {
    async start({
      entry,
      directory: root = PROJECT_DIRECTORY,
      args = [],
      environment,
      ready,
      readyTimeoutMs = 150_000,
    }) {
      const lines: string[] = [];
      const watchers = new Set<() => void>();
      const logPath = join(directory, `${entry.replaceAll('/', '-')}-${started.length}.log`);
      const program = await startProgram({
        name: entry,
        command: process.execPath,
        args: [join(root, entry), ...args],
        workingDirectory: root,
        environment: { ...process.env, ...environment },
        logPath,
        stopSignal: 'SIGTERM',
        stopTimeoutMs: STOP_TIMEOUT_MS,
        record,
        onLine(line) {
          lines.push(line);
          for (const watcher of watchers) watcher();
        },
      });
      started.push(program);
      if (ready) {
        const probe = 'url' in ready ? () => answers(ready.url) : () => lines.some(ready.line);
        await waitUntilReady(program, probe, { timeoutMs: readyTimeoutMs, logPath });
      }
      return asTestProcess(program, lines, watchers);
    },
  };
}

function asTestProcess(program: RunningProgram, lines: string[], watchers: Set<() => void>): TestProcess {
  return {
    pid: program.pid,
    lines,
    exited: program.exited,
    signal: (signal) => program.signal(signal),
    async kill() {
      program.signal('SIGKILL');
      await program.exited;
    },
    stop: () => program.stop(),
    waitForLine(fits, timeoutMs) {
      return new Promise((resolve, reject) => {
        const fail = (reason: string) => {
          clearTimeout(timer);
          watchers.delete(look);
          reject(new Error(`${program.name} ${reason} before such a line; its last ones:\n${program.logTail()}`));
        };
        const look = () => {
          const found = lines.find(fits);
          if (found === undefined) return;
          clearTimeout(timer);
          watchers.delete(look);
          resolve(found);
        };
        const timer = setTimeout(() => fail(`wrote nothing of the kind within ${timeoutMs} ms`), timeoutMs);
        watchers.add(look);
        look();
        void program.exited.then(() => fail('ended'));
      });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
