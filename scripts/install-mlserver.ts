/**
 * `node scripts/install-mlserver.ts`: installs MLServer, a server of the KServe v2 protocol, into the user's cache (some
 * 330 MB). The tests that need it are skipped where it is not.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';

const MLSERVER_VERSION = '1.7.1';

const environment = join(dirname(cacheDirectoryOf(process.env)), `mlserver-${MLSERVER_VERSION}`);

/** The program, whether it is installed or not. */
export const MLSERVER_PATH = join(environment, 'bin', 'mlserver');

function install(): void {
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
  run(join(environment, 'bin', 'pip'), ['install', '--quiet', `mlserver==${MLSERVER_VERSION}`]);
  console.log(`MLServer ${MLSERVER_VERSION} is installed in ${environment}`);
}

function run(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

if (import.meta.main) install();
