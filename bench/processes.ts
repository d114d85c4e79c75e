/** The measured Node processes: the service's own entries, and the benchmark's substitutes in `processes/`. */
import { join } from 'node:path';
import { findFreePort } from '../src/embedded/ports.ts';
import { type RunningProgram, startProgram, waitUntilReady } from '../src/embedded/program.ts';
import { PROJECT_DIRECTORY } from '../src/embedded/service-processes.ts';
import type { BenchContext } from './servers.ts';

export interface ProcessDefinition {
  name: string;
  /** From the project's root. */
  entry: string;
  /** The log message that means ready. */
  readyMessage: string;
  environment: NodeJS.ProcessEnv;
}

const READY_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 40_000;

/** Returns the process id once it is up. */
export async function startProcess(context: BenchContext, definition: ProcessDefinition): Promise<number> {
  return (await startStoppableProcess(context, definition)).pid;
}

/** The same for a process that may have to end before the measure does. */
export async function startStoppableProcess(
  context: BenchContext,
  definition: ProcessDefinition,
): Promise<RunningProgram> {
  const { directory, record, cleanup, signal } = context;
  const { name, entry, readyMessage, environment } = definition;
  let ready = false;
  const logPath = join(directory, `${name.toLowerCase().replaceAll(/\W+/g, '-')}.log`);
  const program = await startProgram({
    name,
    command: process.execPath,
    args: [...profilingFlags(), join(PROJECT_DIRECTORY, entry)],
    workingDirectory: PROJECT_DIRECTORY,
    environment: { ...process.env, ...environment },
    logPath,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
    record,
    onLine(line) {
      ready ||= line.includes(`"msg":"${readyMessage}"`);
    },
  });
  cleanup.add(() => program.stop());
  await waitUntilReady(program, () => ready, { timeoutMs: READY_TIMEOUT_MS, logPath, signal });
  return program;
}

/** Starts the API from one of two entries, and returns its address. */
export async function startApiProcess(
  context: BenchContext,
  definition: Omit<ProcessDefinition, 'readyMessage'>,
): Promise<{ pid: number; url: string }> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    ...definition.environment,
    API_HOST: '127.0.0.1',
    API_PORT: String(port),
    PUBLIC_BASE_URL: url,
  };
  return { pid: await startProcess(context, { ...definition, environment, readyMessage: 'api ready' }), url };
}

/** `BENCH_CPU_PROFILES=<folder>` leaves a profile of each process there, to analyse a missed goal. */
function profilingFlags(): string[] {
  const folder = process.env.BENCH_CPU_PROFILES;
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
}
