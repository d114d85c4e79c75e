/** Two ways to install the `temporal` program: Temporal's own download, and a build with Go. */
import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface InstallOptions {
  /** Empty, and removed afterwards. */
  directory: string;
  version: string;
  environment: NodeJS.ProcessEnv;
  report: (message: string) => void;
  signal?: AbortSignal | undefined;
}

export interface Install {
  /** Returns the path of the program in the directory. */
  (options: InstallOptions): Promise<string>;
  /** Its name in messages. */
  label: string;
}

/** On a closed network nothing responds; nobody should wait minutes to learn that. */
const DOWNLOAD_BEGIN_TIMEOUT_MS = 15_000;
const DOWNLOAD_STALL_TIMEOUT_MS = 30_000;
const PROGRESS_INTERVAL_MS = 5_000;

/** Downloads with the Temporal SDK, which offers this for tests and only as part of a start. */
export const downloadThroughSdk: Install = Object.assign(
  async ({ directory, version, environment, report, signal }: InstallOptions) => {
    report(`Downloading Temporal ${version} …`);
    const script = fileURLToPath(new URL('download-temporal.ts', import.meta.url));
    const child = spawn(process.execPath, [script, directory, `v${version}`], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
      signal,
    });
    const executable = join(directory, `temporal-v${version}`);
    const stopWatching = stopWhenStalled(child, `${executable}.downloading`, report);
    try {
      await succeeded(child, () => {});
    } finally {
      stopWatching();
    }
    return executable;
  },
  { label: 'The download' },
);

export const buildWithGo: Install = Object.assign(
  async ({ directory, version, environment, report, signal }: InstallOptions) => {
    report(`Building Temporal ${version} with Go: about three minutes on two cores, once for all checkouts …`);
    const child = spawn('go', ['install', '-v', `github.com/temporalio/cli/cmd/temporal@v${version}`], {
      cwd: directory,
      env: { ...environment, GOBIN: directory },
      stdio: ['ignore', 'ignore', 'pipe'],
      signal,
    });
    const startedAtMs = performance.now();
    let fetched = 0;
    let compiled = 0;
    const timer = setInterval(() => {
      const seconds = Math.round((performance.now() - startedAtMs) / 1000);
      report(`Building Temporal: ${fetched} modules fetched, ${compiled} packages compiled, ${seconds} s`);
    }, PROGRESS_INTERVAL_MS);
    try {
      await succeeded(child, (line) => {
        if (line.startsWith('go: downloading')) fetched += 1;
        else compiled += 1;
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Error('Go is not installed', { cause: error });
      throw error;
    } finally {
      clearInterval(timer);
    }
    return join(directory, 'temporal');
  },
  { label: 'The build with Go' },
);

/** Kills the download if its file does not appear or stops growing. */
function stopWhenStalled(child: ChildProcess, path: string, report: (message: string) => void): () => void {
  let lastBytes = -1;
  let lastGrowthAtMs = performance.now();
  let lastReportAtMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? -1;
    if (bytes > lastBytes) {
      lastBytes = bytes;
      lastGrowthAtMs = nowMs;
    }
    if (nowMs - lastReportAtMs > PROGRESS_INTERVAL_MS) {
      lastReportAtMs = nowMs;
      report(`Downloading Temporal: ${bytes < 0 ? 'no response yet' : `${(bytes / 1e6).toFixed(0)} MB`}`);
    }
    const allowedMs = lastBytes < 0 ? DOWNLOAD_BEGIN_TIMEOUT_MS : DOWNLOAD_STALL_TIMEOUT_MS;
    if (nowMs - lastGrowthAtMs > allowedMs) child.kill('SIGKILL');
  }, 500);
  return () => clearInterval(timer);
}

/** Resolves when the child succeeds; rejects with its last line, or with the reason it could not start. */
function succeeded(child: ChildProcess, onLine: (line: string) => void): Promise<void> {
  let lastLine = '';
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lastLine = line.trim() || lastLine;
      onLine(line);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else if (signal) reject(new Error('no response in time'));
      else reject(new Error(lastLine || `exit code ${code}`));
    });
  });
}
