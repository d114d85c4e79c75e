/**
 * `node scripts/install-mlserver.ts`: installs MLServer, a server of the KServe v2 protocol, into the user's cache (some
 * 330 MB), where it is not there yet. The tests that need it are skipped where it is not.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';

/** It, and every package that it needs, in one version each. */
const REQUIREMENTS = fileURLToPath(new URL('../test/inference/remote/mlserver/requirements.txt', import.meta.url));

const version = /^mlserver==(.+)$/m.exec(readFileSync(REQUIREMENTS, 'utf8'))?.[1];
const environment = join(dirname(cacheDirectoryOf(process.env)), `mlserver-${version}`);

/** The program, whether it is installed or not. */
export const MLSERVER_PATH = join(environment, 'bin', 'mlserver');

function install(): void {
  if (existsSync(MLSERVER_PATH)) {
    console.log(`MLServer ${version} is installed in ${environment} already`);
    return;
  }
  const python = spawnSync('python3', [
    '-c',
    'import sys, ensurepip; sys.exit(not (3, 9) <= sys.version_info < (3, 13))',
  ]);
  if (python.status !== 0) {
    throw new Error('Python 3.9 to 3.12 is needed as python3 on the PATH, with its venv module (python3-venv).');
  }
  rmSync(environment, { recursive: true, force: true });
  mkdirSync(dirname(environment), { recursive: true });
  run('python3', ['-m', 'venv', environment]);
  try {
    run(join(environment, 'bin', 'pip'), ['install', '--quiet', '--requirement', REQUIREMENTS]);
  } catch (error) {
    rmSync(environment, { recursive: true, force: true });
    throw error;
  }
  console.log(`MLServer ${version} is installed in ${environment}`);
}

function run(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

if (import.meta.main) install();
