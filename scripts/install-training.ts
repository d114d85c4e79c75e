/**
 * `node scripts/install-training.ts`: installs what `training/` imports (PyTorch, OpenCV; some 3 GB) into the user's cache, unless
 * it is there already. The test that trains is skipped without it.
 */
import { readFileSync } from 'node:fs';
import { PythonEnvironment } from './python-environment.ts';

const pins = readFileSync(new URL('../training/requirements.txt', import.meta.url), 'utf8');
const environment = new PythonEnvironment('training', pins);

export const isTrainingInstalled = (): boolean => environment.isInstalled;

/** The interpreter; it may not be installed yet. */
export const TRAINING_PYTHON = environment.program('python');

if (import.meta.main) environment.install('python3', ['3.11']);
