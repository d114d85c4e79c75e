import { Dir } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDiskStore } from '../../../src/platform/storage/disk-store.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../../src/platform/storage/object-store.ts';
import { describeStore, keysUnder } from './store-contract.ts';

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

describe('the contract of a disk store', () => {
  describeStore(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'disk-store-'));
    return {
      store: createDiskStore(join(directory, 'store')),
      stored: () => filesIn(directory),
      close: () => rm(directory, { recursive: true }),
    };
  });
});

/** The store's folder is inside another, where the test would see any file that escapes. */
let outside: string;
let store: ObjectStore;

beforeEach(async () => {
  outside = await mkdtemp(join(tmpdir(), 'disk-store-'));
  store = createDiskStore(join(outside, 'store'));
});
afterEach(() => rm(outside, { recursive: true }));

const files = () => filesIn(outside);

describe('a put that has resolved before a power cut', () => {
  /** What was flushed to disk, in order: the inode, and whether it was a folder. */
  let flushed: { ino: number; isFolder: boolean }[];

  beforeEach(async () => {
    flushed = [];
    const handle = await open(outside);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    for (const method of ['sync', 'datasync'] as const) {
      const original = prototype[method];
      vi.spyOn(prototype, method).mockImplementation(async function (this: FileHandle) {
        const { ino } = await this.stat();
        const isFolder = (await this.stat()).isDirectory();
        await original.call(this);
        flushed.push({ ino, isFolder });
      });
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const inodeOf = async (path: string) => (await stat(join(outside, 'store', path))).ino;

  it.each([
    { what: 'bytes', content: () => Buffer.from('content') },
    { what: 'a stream', content: () => Readable.from([Buffer.from('con'), Buffer.from('tent')]) },
    { what: 'bytes over another object', content: () => Buffer.from('content'), before: Buffer.from('before') },
  ])('a put of $what flushes the file, then the folder that names it', async ({ content, before }) => {
    if (before) await store.put('jobs/job_1/0', before);
    flushed = [];
    await store.put('jobs/job_1/0', content());
    const [file, folder] = [await inodeOf('jobs/job_1/0'), await inodeOf('jobs/job_1')];
    const order = flushed.map(({ ino }) => ino).filter((ino) => ino === file || ino === folder);
    expect(order).toEqual([file, folder]);
  });

  it('a put in new folders flushes each of them into its parent', async () => {
    await store.put('jobs/job_1/0', Buffer.from('content'));
    const folders = flushed.filter(({ isFolder }) => isFolder).map(({ ino }) => ino);
    for (const path of ['jobs/job_1', 'jobs', '.']) expect(folders).toContain(await inodeOf(path));
    expect(folders).toContain((await stat(outside)).ino);
  });

  it('a put of bytes under a new key flushes no more than its file and its folder', async () => {
    await store.put('jobs/job_1.0', Buffer.from('content'));
    flushed = [];
    await store.put('jobs/job_1.1', Buffer.alloc(200_000));
    expect(flushed).toHaveLength(2);
    expect(await files()).toHaveLength(2);
  });
});

it('a folder is no object, and its name cannot become one', async () => {
  await store.put('jobs/job_1/0', Buffer.from('x'));
  await expect(store.get('jobs/job_1')).rejects.not.toBeInstanceOf(ObjectNotFoundError);
  await expect(store.put('jobs/job_1', Buffer.from('x'))).rejects.toThrow();
  expect(await files()).toHaveLength(1);
});

it('no key leaves the folder of a disk store, whatever it contains', async () => {
  const part = fc.constantFrom('..', '.', '/', 'a', 'b.c', '\\', '%2e%2e', '-', '_');
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
      await store.put(parts.join(''), Buffer.from('x')).catch(() => {});
      for (const file of await files()) expect(file.startsWith('store/')).toBe(true);
    }),
  );
});

it('a list has the times of the files', async () => {
  await store.put('uploads/upl_1', Buffer.from('x'));
  const longAgo = new Date('2026-01-01T00:00:00Z');
  await utimes(join(outside, 'store/uploads/upl_1'), longAgo, longAgo);
  for await (const { modifiedAt } of store.list('uploads')) expect(modifiedAt).toEqual(longAgo);
});

it('a list leaves out files and folders whose names are no keys', async () => {
  await store.put('uploads/upl_1', Buffer.from('x'));
  await mkdir(join(outside, 'store/uploads/lost+found'));
  for (const name of ['.DS_Store', 'a copy', 'größer', 'lost+found/upl_2']) {
    await writeFile(join(outside, 'store/uploads', name), 'x');
  }
  expect(await keysUnder(store, 'uploads')).toEqual(['uploads/upl_1']);
});

it('a list fails for a folder that cannot be read, but only after all that can', async () => {
  for (const key of ['jobs/a', 'jobs/locked/b', 'jobs/open/c', 'jobs/z']) await store.put(key, Buffer.from('x'));
  const entries = Dir.prototype[Symbol.asyncIterator];
  const spied = vi.spyOn(Dir.prototype, Symbol.asyncIterator).mockImplementation(function (this: Dir) {
    // Permissions would not keep root out.
    if (this.path.endsWith('locked')) throw new Error('EACCES: permission denied');
    return entries.call(this);
  });
  const found: string[] = [];
  const listing = async () => {
    for await (const { key } of store.list('jobs')) found.push(key);
  };
  await expect(listing().finally(() => spied.mockRestore())).rejects.toThrow('EACCES');
  expect(found.toSorted()).toEqual(['jobs/a', 'jobs/open/c', 'jobs/z']);
});
