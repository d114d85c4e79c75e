/** Starts the service's own processes from their entry files: the four of the service, and the identity provider. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problemInLog } from './problem-in-log.ts';
import type { ProcessRecord } from './process-record.ts';
import { type RunningProgram, startProgram, waitUntilReady } from './program.ts';

export interface ServiceProcess {
  name: string;
  /** From the project's root. */
  entry: string;
  args?: string[];
  logName: string;
}

export const API_PROCESS: ServiceProcess = { name: 'API', entry: 'src/api/main.ts', logName: 'api' };
export const WORKER_PROCESSES: ServiceProcess[] = [
  { name: 'Orchestration worker', entry: 'src/workers/orchestration.ts', logName: 'worker-orchestration' },
  { name: 'Inference worker', entry: 'src/workers/inference.ts', logName: 'worker-inference' },
  { name: 'Webhook worker', entry: 'src/workers/webhooks.ts', logName: 'worker-webhooks' },
];

export const IDENTITY_PROVIDER_PROCESS: ServiceProcess = {
  name: 'Identity provider',
  entry: 'src/embedded/identity-provider-main.ts',
  logName: 'identity-provider',
};

export interface ServiceProcessOptions {
  environment: NodeJS.ProcessEnv;
  logsDirectory: string;
  record: ProcessRecord;
  /** Receives what a worker's log says it cannot run, such as a model, with the reason. */
  say: (line: string) => void;
}

export const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));
/** A worker first bundles its workflows and loads its models, which is slow beside three others and further programs on two cores. */
const READY_TIMEOUT_MS = 300_000;
/** Longer than the 30 s for which the API may hold a request. */
const STOP_TIMEOUT_MS = 40_000;

/** The API is ready when its readiness probe succeeds. */
export async function startApi(
  options: ServiceProcessOptions,
  apiUrl: string,
  signal: AbortSignal,
): Promise<RunningProgram> {
  return launchServer(API_PROCESS, options, `${apiUrl}/health/ready`, signal);
}

export async function startIdentityProvider(
  options: ServiceProcessOptions,
  { settingsPath, jwksUrl }: { settingsPath: string; jwksUrl: string },
  signal: AbortSignal,
): Promise<RunningProgram> {
  const provider = { ...IDENTITY_PROVIDER_PROCESS, args: [settingsPath] };
  return launchServer(provider, options, jwksUrl, signal);
}

/** Returns once the address responds. */
async function launchServer(
  server: ServiceProcess,
  options: ServiceProcessOptions,
  readyUrl: string,
  signal: AbortSignal,
): Promise<RunningProgram> {
  const { program, logPath } = await launch(server, options);
  const probe = async () => {
    try {
      return (await fetch(readyUrl, { signal: AbortSignal.timeout(2_000) })).ok;
    } catch {
      return false;
    }
  };
  await waitUntilReady(program, probe, { timeoutMs: READY_TIMEOUT_MS, intervalMs: 100, logPath, signal });
  return program;
}

/** A worker does not listen; its log tells when it is ready. */
export async function startWorker(
  worker: ServiceProcess,
  options: ServiceProcessOptions,
  signal: AbortSignal,
): Promise<RunningProgram> {
  let ready = false;
  const { program, logPath } = await launch(worker, options, (line) => {
    ready ||= isReadyLine(line);
    const problem = problemInLog(line);
    if (problem !== null) options.say(`  !  ${worker.name}: ${problem}`);
  });
  await waitUntilReady(program, () => ready, { timeoutMs: READY_TIMEOUT_MS, logPath, signal });
  return program;
}

async function launch(
  process_: ServiceProcess,
  options: Omit<ServiceProcessOptions, 'say'>,
  onLine?: (line: string) => void,
) {
  const { environment, logsDirectory, record } = options;
  const logPath = join(logsDirectory, `${process_.logName}.log`);
  const program = await startProgram({
    name: process_.name,
    command: process.execPath,
    args: [join(PROJECT_DIRECTORY, process_.entry), ...(process_.args ?? [])],
    workingDirectory: PROJECT_DIRECTORY,
    environment,
    logPath,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
    record,
    ...(onLine && { onLine }),
  });
  return { program, logPath };
}

function isReadyLine(line: string): boolean {
  if (!line.includes('worker ready')) return false;
  try {
    return (JSON.parse(line) as { msg?: unknown }).msg === 'worker ready';
  } catch {
    return false;
  }
}
