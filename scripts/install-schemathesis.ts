/**
 * `node scripts/install-schemathesis.ts`: installs schemathesis, which makes up requests from an OpenAPI document, into the
 * user's cache, if it is not there yet. `npm run fuzz` does so by itself; the test that fuzzes is skipped without it.
 */
import { PythonEnvironment } from './python-environment.ts';

const environment = new PythonEnvironment('schemathesis', 'schemathesis==4.32.5\n');

export const isSchemathesisInstalled = (): boolean => environment.isInstalled;

/** The program, installed or not. */
export const SCHEMATHESIS_PATH = environment.program('schemathesis');

export const installSchemathesis = (): void => environment.install('python3', ['3.10']);

if (import.meta.main) installSchemathesis();
