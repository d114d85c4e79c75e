/** Virtual environments of Python in the user's cache, for tools and tests. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';

/** Folder of an environment in the user's cache. */
export function pythonEnvironmentDirectory(name: string): string {
  return join(dirname(cacheDirectoryOf(process.env)), name);
}

/** Makes an environment anew. Leaves none behind when it fails. `packages` go to `pip install`. */
export function createPythonEnvironment(python: string, directory: string, packages: readonly string[]): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(dirname(directory), { recursive: true });
  try {
    run(python, ['-m', 'venv', directory]);
    run(join(directory, 'bin', 'pip'), ['install', '--quiet', ...packages]);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

function run(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}
