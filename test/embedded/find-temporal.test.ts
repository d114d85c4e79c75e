import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { cacheDirectoryOf, findTemporal } from '../../src/embedded/find-temporal.ts';
import type { Install } from '../../src/embedded/install-temporal.ts';

const WORKING = '#!/bin/sh\necho "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)"\n';
const BROKEN = '#!/bin/sh\necho "cannot execute" >&2\nexit 126\n';
const OTHER = '#!/bin/sh\necho "Temporal.io is something else"\n';

let directory: string;
let environment: NodeJS.ProcessEnv;
let reports: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'find-temporal-'));
  environment = { HOME: directory, PATH: '/nowhere' };
  reports = [];
});

function place(folder: string, content: string): string {
  mkdirSync(join(directory, folder), { recursive: true });
  const path = join(directory, folder, 'temporal');
  writeFileSync(path, content);
  chmodSync(path, 0o755);
  return path;
}

function placeInCache(content: string): string {
  return place(cacheDirectoryOf(environment).slice(directory.length), content);
}

function find(installs: Install[] = []) {
  return findTemporal({ environment, report: (message) => reports.push(message), installs });
}

function installing(label: string, content: string, calls: string[] = []): Install {
  return Object.assign(
    async ({ directory: into }: { directory: string }) => {
      calls.push(label);
      // Long enough for a second caller to arrive meanwhile.
      await sleep(50);
      const path = join(into, 'brought');
      writeFileSync(path, content);
      chmodSync(path, 0o755);
      return path;
    },
    { label },
  );
}

describe('the order of the search for Temporal', () => {
  it('the caller’s server is preferred to any program of Temporal', async () => {
    environment.TEMPORAL_ADDRESS = 'temporal.example:7233';
    environment.TEMPORAL_CLI_PATH = place('chosen', WORKING);
    expect(await find()).toEqual({ kind: 'external', address: 'temporal.example:7233' });
  });

  it('the program of TEMPORAL_CLI_PATH is preferred to the PATH', async () => {
    environment.TEMPORAL_CLI_PATH = place('chosen', WORKING);
    environment.PATH = join(directory, 'bin');
    place('bin', WORKING);
    expect(await find()).toMatchObject({ executable: join(directory, 'chosen/temporal'), from: 'TEMPORAL_CLI_PATH' });
  });

  it('the first working program on the PATH is preferred to the cache', async () => {
    place('bin-1', BROKEN);
    place('bin-2', OTHER);
    place('bin-3', WORKING);
    placeInCache(WORKING);
    environment.PATH = ['bin-1', 'bin-2', 'bin-3'].map((folder) => join(directory, folder)).join(':');
    expect(await find()).toMatchObject({ executable: join(directory, 'bin-3/temporal'), from: 'PATH' });
  });

  it('a cached program is preferred to an installation', async () => {
    const cached = placeInCache(WORKING);
    const calls: string[] = [];
    expect(await find([installing('first', WORKING, calls)])).toMatchObject({ executable: cached, from: 'cache' });
    expect(calls).toEqual([]);
  });

  it('the first successful installation is used, and cached from then on', async () => {
    const calls: string[] = [];
    const found = await find([
      installing('The first', BROKEN, calls),
      installing('The second', WORKING, calls),
      installing('The third', WORKING, calls),
    ]);
    expect(found).toMatchObject({ kind: 'program', from: 'installed' });
    expect(calls).toEqual(['The first', 'The second']);
    expect(reports.join()).toContain('The first did not install Temporal');
    expect(await find()).toMatchObject({ from: 'cache' });
    expect(existsSync(join(cacheDirectoryOf(environment), 'installing'))).toBe(false);
  });
});

describe('a program that does not work', () => {
  it('a chosen program that does not work is an error, and not skipped', async () => {
    environment.TEMPORAL_CLI_PATH = place('chosen', BROKEN);
    environment.PATH = join(directory, 'bin');
    place('bin', WORKING);
    await expect(find()).rejects.toThrow(/TEMPORAL_CLI_PATH names .*cannot execute/);
  });

  it('a cached program that does not work is replaced', async () => {
    placeInCache(BROKEN);
    expect(await find([installing('The install', WORKING)])).toMatchObject({ from: 'installed' });
  });

  it('an error names every remedy if Temporal is nowhere', async () => {
    const failing = Object.assign(() => Promise.reject(new Error('no network')), { label: 'The download' });
    const error = await find([failing]).then(
      () => '',
      (reason: Error) => reason.message,
    );
    expect(error).toContain('The download: no network');
    for (const way of ['Temporal CLI', 'install Go', 'TEMPORAL_CLI_PATH', 'TEMPORAL_ADDRESS']) {
      expect(error).toContain(way);
    }
  });
});

it('two concurrent starts install Temporal once', async () => {
  const calls: string[] = [];
  const install = installing('The install', WORKING, calls);
  const found = await Promise.all([find([install]), find([install])]);
  expect(found.map(({ kind }) => kind)).toEqual(['program', 'program']);
  expect(calls).toEqual(['The install']);
});
