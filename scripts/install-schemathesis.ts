/**
 * `node scripts/install-schemathesis.ts`: installs schemathesis, which makes up requests from an OpenAPI document, into the
 * user's cache, if it is not there yet. `npm run fuzz` does so by itself; the test that fuzzes is skipped without it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';

const VERSION = '4.32.5';
const environment = join(dirname(cacheDirectoryOf(process.env)), `schemathesis-${VERSION}`);

/** The program, installed or not. */
export const SCHEMATHESIS_PATH = join(environment, 'bin', 'schemathesis');

export function installSchemathesis(): void {
  if (existsSync(SCHEMATHESIS_PATH)) {
    console.log(`schemathesis ${VERSION} is installed in ${environment} already`);
    return;
  }
  const python = spawnSync('python3', ['-c', 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))']);
  if (python.status !== 0) {
    throw new Error('Python 3.10 or newer is needed as python3 on the PATH, with its venv module (python3-venv).');
  }
  rmSync(environment, { recursive: true, force: true });
  mkdirSync(dirname(environment), { recursive: true });
  try {
    run('python3', ['-m', 'venv', environment]);
    run(join(environment, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
  } catch (error) {
    rmSync(environment, { recursive: true, force: true });
    throw error;
  }
  console.log(`schemathesis ${VERSION} is installed in ${environment}`);
}

function run(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

if (import.meta.main) installSchemathesis();
