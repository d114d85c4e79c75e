/**
 * `node scripts/install-schemathesis.ts`: installs schemathesis, which makes up requests from an OpenAPI document, into the
 * user's cache, if it is not there yet. `npm run fuzz` does so by itself; the test that fuzzes is skipped without it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createPythonEnvironment, pythonEnvironmentDirectory } from './python-environment.ts';

const VERSION = '4.32.5';
const environment = pythonEnvironmentDirectory(`schemathesis-${VERSION}`);

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
  createPythonEnvironment('python3', environment, [`schemathesis==${VERSION}`]);
  console.log(`schemathesis ${VERSION} is installed in ${environment}`);
}

if (import.meta.main) installSchemathesis();
