import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { createDiskStore } from '../../../src/platform/storage/disk-store.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../../src/platform/storage/object-store.ts';

/** The store's folder is inside another, where the test would see any file that escapes. */
let outside: string;
let store: ObjectStore;

beforeEach(async () => {
  outside = await mkdtemp(join(tmpdir(), 'disk-store-'));
  store = createDiskStore(join(outside, 'store'));
});
afterEach(() => rm(outside, { recursive: true }));

async function files(): Promise<string[]> {
  const entries = await readdir(outside, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function keys(prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of store.list(prefix)) found.push(key);
  return found.sort();
}

describe('an object', () => {
  it.each([
    { what: 'bytes', content: () => Buffer.from('content') },
    { what: 'a stream', content: () => Readable.from([Buffer.from('con'), Buffer.from('tent')]) },
  ])('written from $what is read back, whole and as a stream', async ({ content }) => {
    await store.put('jobs/job_1/0', content());
    expect(Buffer.from(await store.get('jobs/job_1/0')).toString()).toBe('content');
    const chunks: Buffer[] = [];
    for await (const chunk of await store.stream('jobs/job_1/0')) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('content');
    expect(await files()).toHaveLength(1);
  });

  it('can be read by its path', async () => {
    await store.put('jobs/job_1/0', Buffer.from('content'));
    expect(await store.withFile('jobs/job_1/0', (path) => readFile(path, 'utf8'))).toBe('content');
    await expect(store.withFile('jobs/job_1/1', () => Promise.reject(new Error('not called')))).rejects.toThrow(
      ObjectNotFoundError,
    );
  });

  it('has a size and serves ranges', async () => {
    await store.put('key', Buffer.from('content'));
    expect(await store.size('key')).toBe(7);
    const chunks: Buffer[] = [];
    for await (const chunk of await store.stream('key', { start: 1, end: 3 })) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('ont');
  });

  it('may be empty', async () => {
    await store.put('empty', Readable.from([]));
    expect(await store.get('empty')).toHaveLength(0);
  });

  it('is replaced by a later write', async () => {
    await store.put('key', Buffer.from('first, and longer'));
    await store.put('key', Buffer.from('second'));
    expect(Buffer.from(await store.get('key')).toString()).toBe('second');
  });

  it('is gone once removed, and a second removal is not an error', async () => {
    await store.put('key', Buffer.from('content'));
    await store.remove('key');
    await store.remove('key');
    await expect(store.get('key')).rejects.toBeInstanceOf(ObjectNotFoundError);
    expect(await files()).toEqual([]);
  });

  it('that never existed fails differently from other errors', async () => {
    await expect(store.get('jobs/none')).rejects.toThrow(ObjectNotFoundError);
    await expect(store.stream('jobs/none')).rejects.toThrow(ObjectNotFoundError);
    await expect(store.size('jobs/none')).rejects.toThrow(ObjectNotFoundError);
    await store.put('folder/object', Buffer.from('x'));
    await expect(store.get('folder')).rejects.not.toBeInstanceOf(ObjectNotFoundError);
  });
});

describe('a put survives a power cut once it has resolved', () => {
  /** What was flushed to disk, in order: the inode, and whether it was a folder. */
  let flushed: { ino: number; isFolder: boolean }[];

  beforeEach(async () => {
    flushed = [];
    const handle = await open(outside);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    for (const method of ['sync', 'datasync'] as const) {
      const original = prototype[method];
      jest.spyOn(prototype, method).mockImplementation(async function (this: FileHandle) {
        const { ino } = await this.stat();
        const isFolder = (await this.stat()).isDirectory();
        await original.call(this);
        flushed.push({ ino, isFolder });
      });
    }
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const inodeOf = async (path: string) => (await stat(join(outside, 'store', path))).ino;

  it.each([
    { what: 'bytes', content: () => Buffer.from('content') },
    { what: 'a stream', content: () => Readable.from([Buffer.from('con'), Buffer.from('tent')]) },
    { what: 'bytes over another object', content: () => Buffer.from('content'), before: Buffer.from('before') },
  ])('with $what: the file is flushed, then the folder that names it', async ({ content, before }) => {
    if (before) await store.put('jobs/job_1/0', before);
    flushed = [];
    await store.put('jobs/job_1/0', content());
    const [file, folder] = [await inodeOf('jobs/job_1/0'), await inodeOf('jobs/job_1')];
    const order = flushed.map(({ ino }) => ino).filter((ino) => ino === file || ino === folder);
    expect(order).toEqual([file, folder]);
  });

  it('in new folders: each of them is flushed into its parent', async () => {
    await store.put('jobs/job_1/0', Buffer.from('content'));
    const folders = flushed.filter(({ isFolder }) => isFolder).map(({ ino }) => ino);
    for (const path of ['jobs/job_1', 'jobs', '.']) expect(folders).toContain(await inodeOf(path));
    expect(folders).toContain((await stat(outside)).ino);
  });

  it('in one write, where it is in memory and new', async () => {
    await store.put('jobs/job_1.0', Buffer.from('content'));
    flushed = [];
    await store.put('jobs/job_1.1', Buffer.alloc(200_000));
    expect(flushed).toHaveLength(2);
    expect(await files()).toHaveLength(2);
  });
});

describe('a failed put leaves nothing behind', () => {
  it('when its stream fails half-way', async () => {
    const content = new PassThrough();
    const put = store.put('jobs/job_1/0', content);
    content.write(Buffer.alloc(100_000));
    content.destroy(new Error('the body broke off'));
    await expect(put).rejects.toThrow('the body broke off');
    expect(await files()).toEqual([]);
  });

  it('when its stream had already failed', async () => {
    const content = new PassThrough();
    content.destroy(new Error('the body broke off'));
    await expect(once(content, 'close')).rejects.toThrow('the body broke off');
    await expect(store.put('jobs/job_1/0', content)).rejects.toThrow();
    expect(await files()).toEqual([]);
  });

  it('when its stream closes prematurely', async () => {
    const content = new PassThrough();
    const put = store.put('jobs/job_1/0', content);
    content.write('half');
    content.destroy();
    await expect(put).rejects.toThrow();
    expect(await files()).toEqual([]);
  });

  it('and keeps the previous object', async () => {
    await store.put('key', Buffer.from('whole'));
    const content = new PassThrough();
    const put = store.put('key', content);
    content.destroy(new Error('the body broke off'));
    await expect(put).rejects.toThrow();
    expect(Buffer.from(await store.get('key')).toString()).toBe('whole');
    expect(await files()).toHaveLength(1);
  });

  it('when a folder has its name', async () => {
    await store.put('jobs/job_1/0', Buffer.from('x'));
    await expect(store.put('jobs/job_1', Buffer.from('x'))).rejects.toThrow();
    expect(await files()).toHaveLength(1);
  });
});

it('an object is invisible until it is complete', async () => {
  const content = new PassThrough();
  const put = store.put('jobs/job_1/0', content);
  content.write('half');
  await expect(store.get('jobs/job_1/0')).rejects.toThrow(ObjectNotFoundError);
  expect(await keys('jobs')).toEqual([]);
  content.end(' and half');
  await put;
  expect(await keys('jobs')).toEqual(['jobs/job_1/0']);
});

describe('a key cannot leave the folder', () => {
  const CALLS: ((key: string) => Promise<unknown>)[] = [
    (key) => store.put(key, Buffer.from('x')),
    (key) => store.get(key),
    (key) => store.stream(key),
    (key) => store.size(key),
    (key) => store.remove(key),
    (key) => keys(key),
  ];

  it.each([
    '',
    '.',
    '..',
    '../x',
    'a/../../x',
    '/etc/passwd',
    'a//b',
    'a/',
    'a/.hidden',
    'a\\..\\b',
    'a\0b',
    'a b',
    'größer',
  ])('%j is refused by every operation', async (key) => {
    for (const call of CALLS) await expect(call(key)).rejects.toThrow(/storage key/);
    expect(await files()).toEqual([]);
  });

  it('whatever the key contains', async () => {
    const part = fc.constantFrom('..', '.', '/', 'a', 'b.c', '\\', '%2e%2e', '-', '_');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        await store.put(parts.join(''), Buffer.from('x')).catch(() => {});
        for (const file of await files()) expect(file.startsWith(join(outside, 'store/'))).toBe(true);
      }),
    );
  });
});

describe('a list', () => {
  it('contains the objects under a prefix with the times of their writes', async () => {
    for (const key of ['jobs/job_1/0', 'jobs/job_1/1', 'jobs/job_2/0', 'uploads/upl_1']) {
      await store.put(key, Buffer.from('x'));
    }
    expect(await keys('jobs')).toEqual(['jobs/job_1/0', 'jobs/job_1/1', 'jobs/job_2/0']);
    expect(await keys('jobs/job_2')).toEqual(['jobs/job_2/0']);
    const longAgo = new Date('2026-01-01T00:00:00Z');
    await utimes(join(outside, 'store/uploads/upl_1'), longAgo, longAgo);
    for await (const { modifiedAt } of store.list('uploads')) expect(modifiedAt).toEqual(longAgo);
  });

  it('is empty where nothing was written', async () => {
    expect(await keys('jobs')).toEqual([]);
  });
});

it('a thousand concurrent writes all arrive complete', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `jobs/job_${index}/0`);
  await Promise.all(names.map((name) => store.put(name, Buffer.from(name))));
  expect(await keys('jobs')).toEqual(names.toSorted());
  expect(await readFile(join(outside, 'store/jobs/job_999/0'), 'utf8')).toBe('jobs/job_999/0');
  expect((await stat(join(outside, 'store/jobs'))).isDirectory()).toBe(true);
});
