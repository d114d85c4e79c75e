/** The held-out pictures: rendered from a seed by the Python generator, once, and kept. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One line of `truth.jsonl`. Boxes are in pixels of the picture. */
export interface Truth {
  file: string;
  dashboard: boolean;
  cluster_lit: boolean | null;
  odometer: {
    value: number;
    unit: 'km' | 'mi' | null;
    display_type: 'digital' | 'analogue';
    bbox: { x: number; y: number; width: number; height: number };
  } | null;
  warning_lights: { code: string }[];
  fuel_level_percent: number | null;
  fuel_bbox: { x: number; y: number; width: number; height: number } | null;
}

/** The packages that the generator imports; training needs far more. */
const RENDERING_PACKAGES = ['numpy', 'opencv-python-headless', 'pillow'];

/** Folder of the set of this seed and size, rendered now unless an earlier run left it. */
export async function heldOutSet(root: string, cache: string, seed: number, count: number): Promise<string> {
  const folder = join(cache, `held-out-${seed}-${count}-${await generatorVersion(root)}`);
  if (existsSync(join(folder, 'truth.jsonl'))) return folder;
  const python = await pythonWithPackages(root, cache);
  // Renamed once complete: an interrupted run leaves no partial set behind.
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  process.stderr.write(`rendering ${count} held-out pictures from seed ${seed} …\n`);
  const options = ['--seed', String(seed), '--count', String(count), '--out', partial];
  await run(root, python, ['-m', 'training.render_held_out', ...options]);
  await rename(partial, folder);
  return folder;
}

/** Changes with the generator's source, so that a set of an older generator is not reused. */
async function generatorVersion(root: string): Promise<string> {
  const directory = join(root, 'training');
  const hash = createHash('sha256');
  for (const name of (await readdir(directory)).sort()) {
    if (name.endsWith('.py')) hash.update(await readFile(join(directory, name)));
  }
  return hash.digest('hex').slice(0, 8);
}

/** Identifies a set: a seed gives the same pictures only with the same installed typefaces. */
export async function fingerprint(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const { file } of await readTruth(folder)) hash.update(await readFile(join(folder, file)));
  return hash.digest('hex').slice(0, 12);
}

export async function readTruth(folder: string): Promise<Truth[]> {
  const text = await readFile(join(folder, 'truth.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Truth);
}

async function pythonWithPackages(root: string, cache: string): Promise<string> {
  const environment = join(cache, 'rendering-environment');
  const python = join(environment, 'bin', 'python');
  const complete = join(environment, 'complete');
  if (existsSync(complete)) return python;
  await mkdir(cache, { recursive: true });
  await rm(environment, { recursive: true, force: true });
  process.stderr.write('installing the packages of the generator into a Python environment …\n');
  await run(root, 'python3', ['-m', 'venv', environment]);
  await run(root, python, ['-m', 'pip', 'install', '--quiet', ...(await pinnedPackages(root))]);
  await writeFile(complete, '');
  return python;
}

/** As `training/requirements.txt` pins them. */
async function pinnedPackages(root: string): Promise<string[]> {
  const lines = (await readFile(join(root, 'training', 'requirements.txt'), 'utf8')).split('\n');
  return RENDERING_PACKAGES.map((name) => {
    const pinned = lines.find((line) => line.toLowerCase().split(/[=<>~! ]/)[0] === name);
    if (!pinned) throw new Error(`training/requirements.txt does not name ${name}`);
    return pinned.trim();
  });
}

async function run(root: string, command: string, options: readonly string[]): Promise<void> {
  // The command's output is progress; standard output is for the table.
  const child = spawn(command, options, { cwd: root, stdio: ['ignore', process.stderr, process.stderr] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${options.join(' ')} failed: see above and training/README.md`);
}
