/**
 * Virtual environments of Python in the user's cache, for tools and tests: made once, shared by all checkouts, and named after the hash
 * of their pins, so that other pins make another one.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';

export class PythonEnvironment {
  readonly directory: string;
  readonly #name: string;
  readonly #pins: string;

  /** @param pins lines as in a requirements.txt */
  constructor(name: string, pins: string) {
    this.#name = name;
    this.#pins = pins;
    this.directory = join(dirname(cacheDirectoryOf(process.env)), `${name}-${hash('sha256', pins).slice(0, 12)}`);
  }

  /** An executable of the environment, installed or not. */
  program(name: string): string {
    return join(this.directory, 'bin', name);
  }

  /** Half an installation is none. */
  get isInstalled(): boolean {
    return existsSync(this.#stamp);
  }

  /**
   * Does nothing if it is installed.
   * @param python e.g. `python3`
   * @param versions the oldest that works, and the first that does not: `['3.9', '3.13']`
   * @throws when Python is missing, or a package cannot be installed; leaves nothing behind then
   */
  install(python: string, [oldest, tooNew]: readonly [oldest: string, tooNew?: string]): void {
    if (this.isInstalled) {
      console.log(`${this.#name} is already installed in ${this.directory}`);
      return;
    }
    requirePython(python, oldest, tooNew);
    rmSync(this.directory, { recursive: true, force: true });
    mkdirSync(dirname(this.directory), { recursive: true });
    try {
      run(python, ['-m', 'venv', this.directory]);
      const requirements = join(this.directory, 'requirements.txt');
      writeFileSync(requirements, this.#pins);
      run(this.program('pip'), ['install', '--quiet', '--no-cache-dir', '--requirement', requirements]);
      writeFileSync(this.#stamp, '');
    } catch (error) {
      rmSync(this.directory, { recursive: true, force: true });
      throw error;
    }
    console.log(`${this.#name} is installed in ${this.directory}`);
  }

  get #stamp(): string {
    return join(this.directory, 'installed');
  }
}

function requirePython(python: string, oldest: string, tooNew = '4'): void {
  const tuple = (version: string) => `(${version.split('.').join(', ')},)`;
  const check = `import sys, ensurepip; sys.exit(not ${tuple(oldest)} <= sys.version_info < ${tuple(tooNew)})`;
  if (spawnSync(python, ['-c', check], { stdio: 'ignore' }).status !== 0) {
    const range = tooNew === '4' ? `${oldest} or newer` : `${oldest} or newer, before ${tooNew},`;
    throw new Error(`Python ${range} is needed as ${python}, with its venv module (python3-venv).`);
  }
}

function run(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}
