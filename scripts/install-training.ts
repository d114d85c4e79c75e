/**
 * `node scripts/install-training.ts`: installs what `training/` imports (PyTorch, OpenCV; some 7 GB) into the user's cache, unless
 * it is there already. The test that trains is skipped without it.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPythonEnvironment, pythonEnvironmentDirectory } from './python-environment.ts';

const REQUIREMENTS = fileURLToPath(new URL('../training/requirements.txt', import.meta.url));

const digest = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
const environment = pythonEnvironmentDirectory(`training-${digest}`);

/** The interpreter; it may not be installed yet. */
export const TRAINING_PYTHON = join(environment, 'bin', 'python');

function install(): void {
  if (existsSync(TRAINING_PYTHON)) {
    console.log(`The packages of training/ are already installed in ${environment}`);
    return;
  }
  const python = spawnSync('python3', ['-c', 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))']);
  if (python.status !== 0) {
    throw new Error('Python 3.11 or newer is needed as python3 on the PATH, with its venv module (python3-venv).');
  }
  createPythonEnvironment('python3', environment, ['--no-cache-dir', '--requirement', REQUIREMENTS]);
  console.log(`The packages of training/ are installed in ${environment}`);
}

if (import.meta.main) install();
