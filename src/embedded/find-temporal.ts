/**
 * Finds Temporal, in this order: the caller's server (TEMPORAL_ADDRESS), the caller's program (TEMPORAL_CLI_PATH), `temporal`
 * on the PATH, the project's cache, a download by Temporal's SDK, and a build with Go. The cache belongs to the user, not to
 * the checkout: fresh clones share it.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FolderLock, FolderLockedError, lockFolder } from './folder-lock.ts';
import { buildWithGo, downloadThroughSdk, type Install } from './install-temporal.ts';

/** v1.9.1 and similar versions cannot be installed with Go: their go.mod replaces a module. */
export const TEMPORAL_CLI_VERSION = '1.5.1';

export interface FindTemporalOptions {
  environment: NodeJS.ProcessEnv;
  /** Receives progress of slow steps, in full sentences. */
  report: (message: string) => void;
  /** Aborts a download or a build. */
  signal?: AbortSignal;
  /** Ways to install a missing program, tried in this order. */
  installs?: Install[];
}

export type FoundTemporal =
  | { kind: 'external'; address: string }
  | { kind: 'program'; executable: string; from: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'installed' };

/** @throws an error that says what to install, if Temporal is missing and cannot be fetched. */
export async function findTemporal(options: FindTemporalOptions): Promise<FoundTemporal> {
  const { environment } = options;
  if (environment.TEMPORAL_ADDRESS) return { kind: 'external', address: environment.TEMPORAL_ADDRESS };
  const chosen = environment.TEMPORAL_CLI_PATH;
  if (chosen) {
    const problem = whyUnusable(chosen);
    if (problem) throw new Error(`TEMPORAL_CLI_PATH names ${chosen}, which is no working Temporal: ${problem}`);
    return { kind: 'program', executable: chosen, from: 'TEMPORAL_CLI_PATH' };
  }
  const onPath = findOnPath('temporal', environment).find((path) => !whyUnusable(path));
  if (onPath) return { kind: 'program', executable: onPath, from: 'PATH' };

  const cacheDirectory = cacheDirectoryOf(environment);
  const executable = join(cacheDirectory, 'temporal');
  if (!whyUnusable(executable)) return { kind: 'program', executable, from: 'cache' };
  await installOnce(cacheDirectory, executable, options);
  return { kind: 'program', executable, from: 'installed' };
}

export function cacheDirectoryOf(environment: NodeJS.ProcessEnv): string {
  const userCache = environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), '.cache');
  return join(userCache, 'vehicle-inference-service', `temporal-${TEMPORAL_CLI_VERSION}`);
}

/** Every executable file of this name on the PATH, in its order. */
export function findOnPath(name: string, environment: NodeJS.ProcessEnv): string[] {
  return (environment.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((directory) => join(directory, name))
    .filter((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Null if the program is a working Temporal, else the reason. */
export function whyUnusable(path: string): string | null {
  const { status, stdout, stderr, error } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  if (error) return error.message;
  if (status !== 0) return stderr.trim() || `\`--version\` ended with exit code ${status}`;
  return /^temporal version /m.test(stdout) ? null : `\`--version\` prints ${JSON.stringify(stdout.slice(0, 80))}`;
}

/** Two clones that start at once share one installation: the second waits for the first. */
async function installOnce(cacheDirectory: string, executable: string, options: FindTemporalOptions): Promise<void> {
  const lock = await waitForLock(cacheDirectory, options);
  try {
    // The other process may have installed it.
    if (whyUnusable(executable)) await install(cacheDirectory, executable, options);
  } finally {
    lock.release();
  }
}

async function waitForLock(cacheDirectory: string, { report, signal }: FindTemporalOptions): Promise<FolderLock> {
  for (let waits = 0; ; waits += 1) {
    try {
      return lockFolder(cacheDirectory);
    } catch (error) {
      if (!(error instanceof FolderLockedError)) throw error;
      if (waits % 10 === 0) report(`Process ${error.pid} is installing Temporal already; waiting for it.`);
      await sleep(1_000, undefined, signal ? { signal } : {});
    }
  }
}

async function install(cacheDirectory: string, executable: string, options: FindTemporalOptions): Promise<void> {
  const { environment, report, signal, installs = [downloadThroughSdk, buildWithGo] } = options;
  const directory = join(cacheDirectory, 'installing');
  const failures: string[] = [];
  for (const attempt of installs) {
    // Recreated each time: an interrupted attempt, now or in an earlier process, leaves nothing behind.
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    try {
      const installed = await attempt({ directory, version: TEMPORAL_CLI_VERSION, environment, report, signal });
      const problem = whyUnusable(installed);
      if (problem) throw new Error(`the installed program does not work: ${problem}`);
      renameSync(installed, executable);
      return;
    } catch (error) {
      signal?.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      failures.push(`  - ${attempt.label}: ${reason}`);
      report(`${attempt.label} did not install Temporal: ${reason}`);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  throw new Error(
    [
      'Temporal is required but was not found: not on the PATH, not in the cache, and it could not be fetched:',
      ...failures,
      'Do one of these, then start again:',
      '  - install the Temporal CLI (https://docs.temporal.io/cli#install), or',
      `  - install Go (https://go.dev/dl), so that this command can build Temporal ${TEMPORAL_CLI_VERSION} itself, or`,
      '  - set TEMPORAL_CLI_PATH to the program, or TEMPORAL_ADDRESS to a running server.',
    ].join('\n'),
  );
}
