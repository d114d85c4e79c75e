/** Runs a program as a child process: its log on disk, its readiness, its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { ProcessRecord } from './process-record.ts';

export interface ProgramDefinition {
  name: string;
  command: string;
  args: string[];
  environment: NodeJS.ProcessEnv;
  workingDirectory?: string;
  user?: { uid: number; gid: number } | null;
  logPath: string;
  stopSignal: NodeJS.Signals;
  /** How long the program may take to stop before it is killed. */
  stopTimeoutMs: number;
  /** Records the process, so that a later supervisor can stop it if this one is killed. */
  record?: ProcessRecord | undefined;
  /** Receives every line that the program writes, on both streams. */
  onLine?: (line: string) => void;
}

export interface ProgramExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const LOG_TAIL_LINES = 30;
const LOG_ROTATION_BYTES = 10 * 1024 * 1024;
/** For what a program wrote last, which arrives after its end. A process that it left behind may hold its output open. */
const LAST_OUTPUT_TIMEOUT_MS = 2_000;

/** A program that ended during its start, or was not ready in time. */
export class ProgramFailedError extends Error {
  constructor(name: string, reason: string, program: RunningProgram, logPath: string) {
    const tail = program.logTail();
    super(`${name} ${reason}. Its log: ${logPath}${tail ? `\n${tail}` : ''}`);
    this.name = 'ProgramFailedError';
  }
}

export class RunningProgram {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the process is gone and its output has been read. */
  readonly exited: Promise<ProgramExit>;
  #ended = false;
  readonly #child: ChildProcess;
  readonly #stopSignal: NodeJS.Signals;
  readonly #stopTimeoutMs: number;
  readonly #tail: string[];

  constructor(definition: ProgramDefinition, child: ChildProcess, pid: number, tail: string[]) {
    this.name = definition.name;
    this.pid = pid;
    this.#child = child;
    this.#stopSignal = definition.stopSignal;
    this.#stopTimeoutMs = definition.stopTimeoutMs;
    this.#tail = tail;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#ended = true;
        definition.record?.remove(pid);
        const end = () => {
          clearTimeout(timer);
          resolve({ code, signal });
        };
        const timer = setTimeout(end, LAST_OUTPUT_TIMEOUT_MS);
        child.once('close', end);
      });
    });
  }

  /** False from the moment the process is gone. */
  get running(): boolean {
    return !this.#ended;
  }

  /** The last lines it wrote. */
  logTail(): string {
    return this.#tail.join('\n');
  }

  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#child.kill(signal);
  }

  /** Asks the program to stop, kills it if it takes too long, and returns when it is gone. */
  async stop(): Promise<ProgramExit> {
    this.signal(this.#stopSignal);
    const timer = setTimeout(() => this.signal('SIGKILL'), this.#stopTimeoutMs);
    try {
      return await this.exited;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Starts the program. @throws when the system cannot start it. */
export async function startProgram(definition: ProgramDefinition): Promise<RunningProgram> {
  const { name, command, args, environment, workingDirectory, user, logPath, record, onLine } = definition;
  const log = openLog(logPath);
  const child = spawn(command, args, {
    cwd: workingDirectory,
    env: environment,
    // A session of its own: Ctrl-C in the terminal reaches only the supervisor, which then stops everything in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
  const tail: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      log.write(`${line}\n`);
      if (tail.push(line) > LOG_TAIL_LINES) tail.shift();
      onLine?.(line);
    });
  }
  child.once('close', () => log.end());
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`${name} can't be started: ${error.message}`, { cause: error })));
  });
  const program = new RunningProgram(definition, child, child.pid as number, tail);
  record?.add(name, program.pid);
  return program;
}

export interface ReadinessOptions {
  timeoutMs: number;
  intervalMs?: number;
  /** For the error message. */
  logPath: string;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

/**
 * Waits until `probe` returns true, and stops the program if it never does.
 *
 * @throws ProgramFailedError when the program ends before that, or exceeds the timeout.
 */
export async function waitUntilReady(
  program: RunningProgram,
  probe: () => boolean | Promise<boolean>,
  { timeoutMs, intervalMs = 50, logPath, signal }: ReadinessOptions,
): Promise<void> {
  const fail = (reason: string) => new ProgramFailedError(program.name, reason, program, logPath);
  const deadlineMs = performance.now() + timeoutMs;
  try {
    while (!(await probe())) {
      signal?.throwIfAborted();
      if (!program.running) throw fail(`ended during its start (${describeExit(await program.exited)})`);
      if (performance.now() > deadlineMs) throw fail(`wasn't ready after ${timeoutMs / 1000} s`);
      await Promise.race([program.exited, delay(intervalMs)]);
    }
  } catch (error) {
    await program.stop();
    throw error;
  }
}

export function describeExit({ code, signal }: ProgramExit): string {
  return signal ? `signal ${signal}` : `exit code ${code}`;
}

function delay(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

/** Appends, so that a restart does not hide its cause; a large log is rotated, and one older file kept. */
function openLog(path: string) {
  mkdirSync(dirname(path), { recursive: true });
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeBytes > LOG_ROTATION_BYTES) renameSync(path, `${path}.1`);
  const log = createWriteStream(path, { flags: 'a', mode: 0o600 });
  // A full disk must not take the supervisor down.
  log.on('error', () => {});
  return log;
}
