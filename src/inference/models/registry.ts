/** The models installed under a folder: `<model>/<release date>/model.json` with the files it names. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../log.ts';
import { type ModelManifest, parseManifest, versionOf } from './manifest.ts';

/** A valid release and where it lies. Plain data: it is sent to child processes. */
export interface InstalledModel {
  directory: string;
  manifest: ModelManifest;
  uses: Record<string, InstalledModel>;
}

export interface ModelRegistry {
  /** Newest valid release of a model, or the one of `<model>@<release>`; undefined when there is none. */
  find(name: string): InstalledModel | undefined;
  /** Every usable release for a task, whatever its model: the newest first, of one date by the name of the model. */
  forTask(task: string): readonly InstalledModel[];
  /** The releases for none of these tasks which no other model uses: a misspelt task, most likely. */
  idle(tasks: ReadonlySet<string>): readonly ModelManifest[];
  readonly models: readonly InstalledModel[];
}

/**
 * Reads and checks every release. One that is damaged is logged with the reason and left out, so that an older release,
 * or the other models, still work. A missing folder is an empty registry.
 */
export async function loadModelRegistry(modelsDirectory: string, logger: Log): Promise<ModelRegistry> {
  const releases = new Map<string, { directory: string; manifest: ModelManifest }>();
  for (const model of await subfolders(modelsDirectory)) {
    for (const release of await subfolders(join(modelsDirectory, model))) {
      const directory = join(modelsDirectory, model, release);
      try {
        const manifest = await readRelease(directory, model, release);
        releases.set(versionOf(manifest), { directory, manifest });
      } catch (error) {
        logger.error({ model, release, reason: (error as Error).message }, 'a damaged model release is left out');
      }
    }
  }

  const find = (name: string, users: readonly string[] = []): InstalledModel | undefined => {
    const candidates = [...releases.keys()].filter((version) => version === name || version.startsWith(`${name}@`));
    // Dates in ISO order: the last is the newest. An older release stands in for one that lacks what it uses.
    for (const version of candidates.sort().reverse()) {
      const release = releases.get(version);
      if (!release || users.includes(version)) continue;
      const uses = Object.entries(release.manifest.uses ?? {}).map(
        ([role, used]) => [role, used, find(used, [...users, version])] as const,
      );
      const missing = uses.filter(([, , model]) => !model).map(([role, used]) => `uses.${role}: ${used}`);
      if (missing.length > 0) {
        logger.error({ version, reason: `${missing.join(', ')} is not installed` }, 'a model cannot be used');
        continue;
      }
      const resolved = uses.flatMap(([role, , model]) => (model ? [[role, model] as const] : []));
      return { ...release, uses: Object.fromEntries(resolved) };
    }
    return undefined;
  };

  const models = [...releases.keys()].flatMap((version) => find(version) ?? []);
  return {
    find: (name) => find(name),
    forTask: (task) => models.filter(({ manifest }) => manifest.task === task).sort(newestFirst),
    idle: (tasks) => {
      const used = new Set(models.flatMap(({ uses }) => Object.values(uses).map(({ manifest }) => manifest.model)));
      return models.map(({ manifest }) => manifest).filter(({ task, model }) => !tasks.has(task) && !used.has(model));
    },
    models,
  };
}

function newestFirst({ manifest: a }: InstalledModel, { manifest: b }: InstalledModel): number {
  return b.release.localeCompare(a.release, 'en') || a.model.localeCompare(b.model, 'en');
}

/** @throws Error that names the file when it is missing or not the one that `model.json` describes. */
export async function readModelFile(
  model: Pick<InstalledModel, 'directory' | 'manifest'>,
  file: string,
): Promise<Buffer> {
  const entry = model.manifest.files[file];
  if (!entry) throw new Error(`files.${file} is missing from model.json`);
  const bytes = await readFile(join(model.directory, entry.path)).catch(() => {
    throw new Error(`files.${file}: ${entry.path} is missing`);
  });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== entry.sha256) {
    throw new Error(`files.${file}.sha256: ${entry.path} has ${sha256}, model.json says ${entry.sha256}`);
  }
  return bytes;
}

async function readRelease(directory: string, model: string, release: string): Promise<ModelManifest> {
  const text = await readFile(join(directory, 'model.json'), 'utf8').catch(() => {
    throw new Error('model.json is missing');
  });
  const manifest = parseManifest(text);
  if (manifest.model !== model) throw new Error(`model.json: model is ${manifest.model}, its folder ${model}`);
  if (manifest.release !== release)
    throw new Error(`model.json: release is ${manifest.release}, its folder ${release}`);
  for (const file of Object.keys(manifest.warmUp)) {
    if (!manifest.files[file]) throw new Error(`model.json: warmUp.${file} is not one of files`);
  }
  for (const file of Object.keys(manifest.files)) {
    if (!manifest.warmUp[file]) throw new Error(`model.json: warmUp.${file} is missing`);
  }
  for (const file of Object.keys(manifest.files)) await readModelFile({ directory, manifest }, file);
  return manifest;
}

async function subfolders(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map((entry) => entry.name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
