/**
 * `node scripts/install-python-client.ts`: makes an environment with everything that the tests of the Python client need, for
 * the oldest and for the newest Python of this machine that the client supports. The tests are skipped without it.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../src/embedded/find-temporal.ts';
import { PythonEnvironment } from './python-environment.ts';

/** `requires-python` of the client, and the newest that its pinned packages were tried with. */
const MINORS = [8, 9, 10, 11, 12, 13] as const;
const pins = readFileSync(new URL('../clients/python/requirements-test.txt', import.meta.url), 'utf8');

export interface PythonOfClient {
  /** `3.8` */
  version: string;
  /** The interpreter on this machine. */
  python: string;
  environment: PythonEnvironment;
  /** Its interpreter, installed or not. */
  environmentPython: string;
}

/** One Python or two: the oldest and the newest. Empty without any. */
export function findPythonsOfClient(): PythonOfClient[] {
  const found = MINORS.flatMap((minor) => {
    const python = candidatesOf(minor).find((candidate) => isUsable(candidate, minor));
    return python === undefined ? [] : [describe(`3.${minor}`, python)];
  });
  return [...new Set([found.at(0), found.at(-1)])].filter((python) => python !== undefined);
}

export const isPythonInstalled = ({ environment }: PythonOfClient): boolean => environment.isInstalled;

function describe(version: string, python: string): PythonOfClient {
  const environment = new PythonEnvironment(`python-client-${version}`, pins);
  return { version, python, environment, environmentPython: environment.program('python') };
}

/** Those of pyenv are called directly: its shims run only the versions that a user has selected. */
function candidatesOf(minor: number): string[] {
  const ofPyenv = globSync(
    join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), `versions/3.${minor}.*/bin/python`),
  );
  return [...ofPyenv, ...findOnPath(`python3.${minor}`, process.env), ...findOnPath('python3', process.env)];
}

function isUsable(python: string, minor: number): boolean {
  const check = `import sys, ensurepip, ssl; sys.exit(sys.version_info[:2] != (3, ${minor}))`;
  return spawnSync(python, ['-c', check], { stdio: 'ignore' }).status === 0;
}

if (import.meta.main) {
  const pythons = findPythonsOfClient();
  if (pythons.length === 0) throw new Error('Python 3.8 or newer is needed, with its venv module (python3-venv).');
  for (const { version, python, environment } of pythons) environment.install(python, [version]);
}
