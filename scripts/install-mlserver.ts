/**
 * `node scripts/install-mlserver.ts`: installs MLServer, a KServe v2 server, into the user's cache (some 330 MB) unless it
 * is there already. Tests that need it are skipped without it.
 */
import { readFileSync } from 'node:fs';
import { PythonEnvironment } from './python-environment.ts';

/** MLServer and all of its dependencies, with pinned versions. */
const pins = readFileSync(
  new URL('../test/inference/runtime/kserve/mlserver/requirements.txt', import.meta.url),
  'utf8',
);
const environment = new PythonEnvironment('mlserver', pins);

export const isMlServerInstalled = (): boolean => environment.isInstalled;

/** The executable; it may not be installed yet. */
export const MLSERVER_PATH = environment.program('mlserver');

if (import.meta.main) environment.install('python3', ['3.9', '3.13']);
