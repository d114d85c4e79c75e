/** The models installed under a folder: `<model>/<release date>/model.json` with the files it names. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../platform/logging/log.ts';
import { type ModelManifest, versionOf } from './manifest.ts';
import { fingerprintOf, hasChangedSince, isFileSystemError, type ReleaseFolder, readRelease } from './release.ts';

/** A valid release and its folder. Plain data, because it is sent to child processes. */
export interface InstalledModel extends ReleaseFolder {
  uses: Record<string, InstalledModel>;
}

/** Megabytes that one process needs with a model and those that it uses; a missing `memoryMb` counts as 0. */
export function memoryMbOf({ manifest: { memoryMb = 0 }, uses }: InstalledModel): number {
  return Object.values(uses).reduce((sum, used) => sum + memoryMbOf(used), memoryMb);
}

export interface ModelRegistry {
  /** Newest valid release of `<model>`, or exactly `<model>@<release>`; undefined when there is none. */
  find(name: string): InstalledModel | undefined;
  /** Every usable release for one of these tasks: newest first, then by model name. */
  forTasks(tasks: readonly string[]): readonly InstalledModel[];
  /** Releases with none of these tasks that no other model uses. Most likely their task is misspelt. */
  idle(tasks: ReadonlySet<string>): readonly ModelManifest[];
  readonly models: readonly InstalledModel[];
}

export interface ModelFolder {
  /**
   * Returns what is installed; the same object as before when nothing has changed. After the first call, a new or changed
   * release is read once its files are unchanged between two calls, or at once if `now`.
   * @throws Error when the folder cannot be read; the previous result stays valid
   */
  read(options?: { now?: boolean }): Promise<ModelRegistry>;
}

interface KnownRelease {
  fingerprint: string;
  /** Null for a damaged release. */
  release: ReleaseFolder | null;
}

/**
 * Reads and checks every new or changed release. A damaged one is logged with the reason and skipped, so that an older
 * release and other models still work. A folder that does not exist on the first call counts as empty.
 */
export function createModelFolder(modelsDirectory: string, logger: Log): ModelFolder {
  const known = new Map<string, KnownRelease>();
  /** Fingerprints of changed releases at the last call. */
  let changing = new Map<string, string>();
  let registry: ModelRegistry | null = null;

  return {
    async read({ now = false } = {}) {
      const present = await releasesIn(modelsDirectory, { mayBeMissing: registry === null });
      const isFirst = registry === null;
      const stillChanging = new Map<string, string>();
      let hasChanged = isFirst;
      for (const name of known.keys()) {
        if (present.has(name)) continue;
        known.delete(name);
        hasChanged = true;
      }
      for (const [name, { directory, model, release }] of present) {
        const fingerprint = await fingerprintOf(directory);
        if (known.get(name)?.fingerprint === fingerprint && !now) continue;
        if (!isFirst && !now && changing.get(name) !== fingerprint) {
          // It may still be being copied.
          stillChanging.set(name, fingerprint);
          continue;
        }
        const read = await readRelease(directory, model, release).then(
          (whole): KnownRelease => ({ fingerprint, release: whole }),
          async (error: Error): Promise<KnownRelease | null> => {
            const isAway = isFileSystemError(error);
            if (!isAway && (await hasChangedSince(fingerprint, directory))) return null;
            logger.error({ model, release, reason: error.message }, 'a damaged model release is skipped');
            // A failure of the file system may pass; until then the known release stays.
            if (isAway) return { fingerprint: '', release: known.get(name)?.release ?? null };
            return { fingerprint, release: null };
          },
        );
        if (!read) {
          // It is being copied or removed.
          stillChanging.set(name, await fingerprintOf(directory));
          continue;
        }
        known.set(name, read);
        hasChanged = true;
      }
      changing = stillChanging;
      const whole = [...known.values()].flatMap(({ release }) => release ?? []);
      if (hasChanged || registry === null) registry = createRegistry(whole, logger);
      return registry;
    },
  };
}

function createRegistry(releases: readonly ReleaseFolder[], logger: Log): ModelRegistry {
  const byVersion = new Map(releases.map((release) => [versionOf(release.manifest), release]));

  const find = (name: string, users: readonly string[] = []): InstalledModel | undefined => {
    const candidates = [...byVersion.keys()].filter((version) => version === name || version.startsWith(`${name}@`));
    // ISO dates sort by age: newest last. An older release replaces one whose `uses` are not installed.
    for (const version of candidates.sort().reverse()) {
      const release = byVersion.get(version);
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

  const models = [...byVersion.keys()].flatMap((version) => find(version) ?? []);
  return {
    find: (name) => find(name),
    forTasks: (tasks) => models.filter(({ manifest }) => tasks.includes(manifest.task)).sort(newestFirst),
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

async function releasesIn(modelsDirectory: string, { mayBeMissing }: { mayBeMissing: boolean }) {
  const found = new Map<string, { directory: string; model: string; release: string }>();
  for (const model of await subfolders(modelsDirectory, mayBeMissing)) {
    for (const release of await subfolders(join(modelsDirectory, model), true)) {
      found.set(`${model}/${release}`, { directory: join(modelsDirectory, model, release), model, release });
    }
  }
  return found;
}

async function subfolders(directory: string, mayBeMissing: boolean): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map((entry) => entry.name);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (mayBeMissing && ['ENOENT', 'ENOTDIR'].includes(code)) return [];
    throw error;
  }
}
