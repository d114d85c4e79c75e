import { type FileHandle, mkdir, open, opendir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { randomToken } from '../ids.ts';
import { assertKey, isKey, ObjectNotFoundError, type ObjectStore, PARTIAL_PREFIX } from './object-store.ts';

/**
 * Stores objects as files under one folder, which the API and the workers share. When a put resolves, the file and its name
 * are on disk: a row that is committed afterwards finds its file after a power cut.
 */
export function createDiskStore(directory: string): ObjectStore {
  const pathOf = (key: string): string => {
    assertKey(key);
    return join(directory, key);
  };

  return {
    async put(key, content) {
      const path = pathOf(key);
      if (content instanceof Uint8Array && (await putNew(path, content))) return;
      // A stream may fail before the pipeline reads it; the pipeline then reports the failure.
      if (!(content instanceof Uint8Array)) content.on('error', () => {});
      const partialPath = join(directory, PARTIAL_PREFIX, randomToken());
      try {
        await write(partialPath, content);
        await makeFolder(dirname(path));
        await rename(partialPath, path);
        await flushFolder(dirname(path));
      } catch (error) {
        await rm(partialPath, { force: true });
        throw error;
      }
    },

    async get(key) {
      return readFile(pathOf(key)).catch(throwNotFound(key));
    },

    async size(key) {
      return (await stat(pathOf(key)).catch(throwNotFound(key))).size;
    },

    async stream(key, range) {
      const file = await open(pathOf(key), 'r').catch(throwNotFound(key));
      return file.createReadStream(range);
    },

    async withFile(key, use) {
      const path = pathOf(key);
      await stat(path).catch(throwNotFound(key));
      return use(path);
    },

    async remove(key) {
      await rm(pathOf(key), { force: true });
    },

    async *list(prefix) {
      for await (const path of filesUnder(pathOf(prefix))) {
        // A file may disappear during the listing.
        const found = await stat(path).catch(() => null);
        if (found) yield { key: relative(directory, path), modifiedAt: found.mtime };
      }
    },

    async removeUnfinished(begunBefore, signal) {
      for await (const path of filesUnder(join(directory, PARTIAL_PREFIX))) {
        if (signal?.aborted) return;
        const found = await stat(path).catch(() => null);
        if (found && found.mtime < begunBefore) await rm(path, { force: true });
      }
    },
  };
}

/**
 * Paths of all files in a folder whose names may be those of objects, read a few entries at a time: a folder may hold
 * millions.
 * @throws after the last path, when a folder within cannot be read
 */
async function* filesUnder(directory: string): AsyncGenerator<string> {
  const entries = await opendir(directory).catch((error: NodeJS.ErrnoException) => {
    // It may not exist yet, or disappear during the listing.
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
  const failures: unknown[] = [];
  for await (const entry of entries) {
    // Not the store's, such as `.DS_Store` and `lost+found`.
    if (!isKey(entry.name)) continue;
    const path = join(directory, entry.name);
    if (entry.isFile()) yield path;
    if (!entry.isDirectory()) continue;
    try {
      yield* filesUnder(path);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Writes an object in memory straight to its place, where nobody looks for it yet: no partial file and no rename. Returns
 * false and writes nothing if the file exists, because somebody may be reading it.
 */
async function putNew(path: string, content: Uint8Array): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await create(path, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    await file.writeFile(content);
    await file.datasync();
    await file.close();
    await flushFolder(dirname(path));
    return true;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

async function write(path: string, content: Readable | Uint8Array): Promise<void> {
  // Opened before anything can fail: otherwise the file could appear after its removal.
  const file = await create(path, 'w');
  const source = content instanceof Uint8Array ? Readable.from([content]) : content;
  await pipeline(source, file.createWriteStream({ flush: true }));
}

/** Creates missing folders. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  // A new folder is named by its parent.
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) await flushFolder(dirname(folder));
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Creates the folder only when it is missing, which is once. */
async function create(path: string, flags: 'w' | 'wx'): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await makeFolder(dirname(path));
    return open(path, flags);
  }
}

function throwNotFound(key: string) {
  return (error: NodeJS.ErrnoException): never => {
    if (error.code !== 'ENOENT') throw error;
    throw new ObjectNotFoundError(`there is no object "${key}"`, { cause: error });
  };
}
