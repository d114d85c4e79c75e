/**
 * `node scripts/install-mlserver.ts`: installs MLServer, a KServe v2 server, into the user's cache (some 330 MB) unless it
 * is there already. Tests that need it are skipped without it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPythonEnvironment, pythonEnvironmentDirectory } from './python-environment.ts';

/** MLServer and all of its dependencies, with pinned versions. */
const REQUIREMENTS = fileURLToPath(
  new URL('../test/inference/runtime/kserve/mlserver/requirements.txt', import.meta.url),
);

const version = /^mlserver==(.+)$/m.exec(readFileSync(REQUIREMENTS, 'utf8'))?.[1];
const environment = pythonEnvironmentDirectory(`mlserver-${version}`);

/** The executable; it may not be installed yet. */
export const MLSERVER_PATH = join(environment, 'bin', 'mlserver');

function install(): void {
  if (existsSync(MLSERVER_PATH)) {
    console.log(`MLServer ${version} is already installed in ${environment}`);
    return;
  }
  const python = spawnSync('python3', [
    '-c',
    'import sys, ensurepip; sys.exit(not (3, 9) <= sys.version_info < (3, 13))',
  ]);
  if (python.status !== 0) {
    throw new Error('Python 3.9 to 3.12 is needed as python3 on the PATH, with its venv module (python3-venv).');
  }
  createPythonEnvironment('python3', environment, ['--requirement', REQUIREMENTS]);
  console.log(`MLServer ${version} is installed in ${environment}`);
}

if (import.meta.main) install();
