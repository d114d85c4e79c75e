/** Programs that are built with Go, of pinned versions, into the user's cache. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';

export interface GoProgram {
  /** The program's name and version, for messages and for its folder. */
  name: string;
  version: string;
  /** Package of each executable, by the executable's name. */
  packages: Readonly<Record<string, string>>;
}

/** Where its executables lie, installed or not. */
export const goProgramDirectory = ({ name, version }: GoProgram): string =>
  join(dirname(cacheDirectoryOf(process.env)), `${name}-${version}`);

export const isGoProgramInstalled = (program: GoProgram): boolean =>
  Object.keys(program.packages).every((executable) => existsSync(join(goProgramDirectory(program), executable)));

/** Builds what is missing. @throws when Go is missing, or the build fails. */
export function installGoProgram(program: GoProgram): void {
  const { name, version, packages } = program;
  const directory = goProgramDirectory(program);
  if (isGoProgramInstalled(program)) {
    console.log(`${name} ${version} is already installed in ${directory}`);
    return;
  }
  if (spawnSync('go', ['version']).status !== 0) throw new Error('Go is needed on the PATH: https://go.dev/dl');
  const building = join(directory, 'building');
  try {
    for (const [executable, path] of Object.entries(packages)) {
      rmSync(building, { recursive: true, force: true });
      mkdirSync(building, { recursive: true });
      const { status, error } = spawnSync('go', ['install', `${path}@v${version}`], {
        env: { ...process.env, GOBIN: building },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      if (status !== 0) throw new Error(`go install failed${error ? `: ${error.message}` : ''}`);
      // Go names it by the last part of its path that is no version.
      renameSync(join(building, basename(path.replace(/\/v\d+$/, ''))), join(directory, executable));
    }
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  console.log(`${name} ${version} is installed in ${directory}`);
}
