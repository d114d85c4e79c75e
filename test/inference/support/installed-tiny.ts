/** The tiny model installed as many releases and models, for tests of what is loaded when. */
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelsDirectory as tinyModels } from './tiny-endpoint.ts';

const source = new URL('tiny/2026-01-01/', tinyModels);

const misbehaving = new URL('../misbehaving/', import.meta.url);

/** The same with a network of `misbehaving/` in place of its own. */
export async function installMisbehaving(
  modelsDirectory: string,
  release: string,
  network: 'endless' | 'hoarding' | 'roots',
  changes: Record<string, unknown> = {},
): Promise<string> {
  const bytes = await readFile(new URL(`${network}.onnx`, misbehaving));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const tensors = { inputs: { x: { shape: ['N'] } }, outputs: { y: { shape: ['N'] } } };
  const folder = await installTiny(modelsDirectory, release, {
    files: { tiny: { path: 'other.onnx', sha256, ...tensors } },
    ...changes,
  });
  await writeFile(join(folder, 'other.onnx'), bytes);
  return folder;
}

/** Puts a release into the folder of models, its `model.json` changed. Appears whole, as after a `mv`. */
export async function installTiny(
  modelsDirectory: string,
  release: string,
  changes: Record<string, unknown> = {},
): Promise<string> {
  const { model = 'tiny' } = changes as { model?: string };
  const folder = join(modelsDirectory, model, release);
  const aside = join(modelsDirectory, `.${model}-${release}`);
  await mkdir(join(modelsDirectory, model), { recursive: true });
  await cp(source, aside, { recursive: true });
  const manifest = JSON.parse(await readFile(join(aside, 'model.json'), 'utf8')) as Record<string, unknown>;
  await writeFile(join(aside, 'model.json'), JSON.stringify({ ...manifest, model, release, ...changes }));
  await rm(folder, { recursive: true, force: true });
  await rename(aside, folder);
  return folder;
}
