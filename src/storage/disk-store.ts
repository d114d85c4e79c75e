import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { randomToken } from '../domain/ids.ts';
import { ObjectNotFoundError, type ObjectStore, PARTIAL_PREFIX } from './object-store.ts';

const KEY = /^[a-zA-Z0-9_-][a-zA-Z0-9._-]*(?:\/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)*$/;

/** Objects as files under one folder, which API and inference workers share. */
export function createDiskStore(directory: string): ObjectStore {
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error(`"${key}" is not a storage key`);
    return join(directory, key);
  };

  return {
    async put(key, content) {
      const path = pathOf(key);
      if (content instanceof Uint8Array && (await putNew(path, content))) return;
      // A stream may fail before it is read; the pipeline then finds it so.
      if (!(content instanceof Uint8Array)) content.on('error', () => {});
      const partialPath = join(directory, PARTIAL_PREFIX, randomToken());
      try {
        await write(partialPath, content);
        await mkdir(dirname(path), { recursive: true });
        await rename(partialPath, path);
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
      const path = pathOf(key);
      await stat(path).catch(throwNotFound(key));
      return createReadStream(path, range);
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
      const root = pathOf(prefix);
      const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        // A file may go while the list is read.
        const found = await stat(path).catch(() => null);
        if (found) yield { key: relative(directory, path), modifiedAt: found.mtime };
      }
    },
  };
}

/**
 * Writes an object that is in memory straight to its place, where nobody looks for it yet: three calls of the system
 * instead of six. Answers false, and writes nothing, where there is one already: that may be read meanwhile.
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
    await file.close();
    return true;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

async function write(path: string, content: Readable | Uint8Array): Promise<void> {
  // Opened before anything can fail: otherwise the file could come to be after its removal.
  const file = await create(path, 'w');
  await pipeline(content instanceof Uint8Array ? Readable.from([content]) : content, file.createWriteStream());
}

/** Only the first file of a folder finds it missing. */
async function create(path: string, flags: 'w' | 'wx'): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true });
    return open(path, flags);
  }
}

function throwNotFound(key: string) {
  return (error: NodeJS.ErrnoException): never => {
    if (error.code !== 'ENOENT') throw error;
    throw new ObjectNotFoundError(`there is no object "${key}"`, { cause: error });
  };
}
