/** A server that serves one command: starts it, runs the command with its address in the environment, and stops it. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessRecord } from '../src/embedded/process-record.ts';
import { listenForStop } from '../src/embedded/stop-signals.ts';

export interface ServedCommand {
  /** What a person reads once it serves. */
  announcement: string;
  /** What the command finds it by. */
  environment: Readonly<Record<string, string>>;
  /** Resolves when the server has ended by itself. */
  exited: Promise<unknown>;
  stop(): Promise<void>;
}

export interface ServeOptions {
  /** Empty, and removed at the end. */
  directory: string;
  record: ProcessRecord;
  signal: AbortSignal;
}

/** Runs the command of the arguments, or waits for a stop where they name none. Returns the exit code. */
export async function serveCommand(
  start: (options: ServeOptions) => Promise<ServedCommand>,
  [command, ...args]: readonly string[],
): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'server-'));
  // PostgreSQL may run under another account (postgres-user.ts), which has to pass through here.
  chmodSync(directory, 0o755);
  const record = new ProcessRecord(join(directory, 'processes.json'));
  const signal = listenForStop({ onFirst: () => {}, onSecond: () => record.killAll() });
  try {
    const server = await start({ directory, record, signal });
    try {
      console.log(server.announcement);
      if (command !== undefined) return await run(command, args, server.environment, signal);
      await Promise.race([server.exited, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      return signal.aborted ? 0 : 1;
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function run(
  command: string,
  args: readonly string[],
  environment: ServedCommand['environment'],
  signal: AbortSignal,
): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  // A terminal delivers Ctrl-C to both; everything else reaches this process alone.
  signal.addEventListener('abort', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
