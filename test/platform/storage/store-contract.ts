/** What every store keeps, whatever it stores in. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObjectNotFoundError, type ObjectStore } from '../../../src/platform/storage/object-store.ts';

export interface OpenedStore {
  store: ObjectStore;
  /** Everything the store holds, unfinished objects included. */
  stored(): Promise<string[]>;
  close(): Promise<void>;
}

export async function keysUnder(store: ObjectStore, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of store.list(prefix)) found.push(key);
  return found.sort();
}

export const textOf = async (content: Promise<Readable>): Promise<string> =>
  Buffer.concat(await (await content).toArray()).toString();

/** The same tests for each store; each test has an empty one of its own. */
export function describeStore(open: () => Promise<OpenedStore>, { concurrentWrites = 1_000 } = {}): void {
  let opened: OpenedStore;
  let store: ObjectStore;

  beforeEach(async () => {
    opened = await open();
    store = opened.store;
  });
  afterEach(() => opened.close());

  const keys = (prefix: string) => keysUnder(store, prefix);

  describe('an object', () => {
    it.each([
      { what: 'bytes', content: () => Buffer.from('content') },
      { what: 'a stream', content: () => Readable.from([Buffer.from('con'), Buffer.from('tent')]) },
    ])('an object written from $what is read back, whole and as a stream', async ({ content }) => {
      await store.put('jobs/job_1.0', content());
      expect(Buffer.from(await store.get('jobs/job_1.0')).toString()).toBe('content');
      expect(await textOf(store.stream('jobs/job_1.0'))).toBe('content');
      expect(await opened.stored()).toHaveLength(1);
    });

    it('an object of many megabytes is read back as it was streamed', async () => {
      const content = randomBytes(21_000_001);
      await store.put('uploads/upl_1', Readable.from(inChunks(content, 65_536)));
      expect(await store.size('uploads/upl_1')).toBe(content.length);
      expect(Buffer.compare(content, await store.get('uploads/upl_1'))).toBe(0);
      const [start, end] = [8_388_600, 8_388_620];
      const range = Buffer.concat(await (await store.stream('uploads/upl_1', { start, end })).toArray());
      expect(range).toEqual(content.subarray(start, end + 1));
      expect(await opened.stored()).toHaveLength(1);
    });

    it('an object can be read by its path', async () => {
      await store.put('jobs/job_1.0', Buffer.from('content'));
      expect(await store.withFile('jobs/job_1.0', (path) => readFile(path, 'utf8'))).toBe('content');
      await expect(store.withFile('jobs/job_1.1', () => Promise.reject(new Error('not called')))).rejects.toThrow(
        ObjectNotFoundError,
      );
    });

    it('an object has a size and serves ranges', async () => {
      await store.put('key', Buffer.from('content'));
      expect(await store.size('key')).toBe(7);
      expect(await textOf(store.stream('key', { start: 1, end: 3 }))).toBe('ont');
      expect(await textOf(store.stream('key', { start: 5, end: 100 }))).toBe('nt');
      expect(await textOf(store.stream('key', { start: 7, end: 8 }))).toBe('');
    });

    it('an object may be empty', async () => {
      await store.put('empty', Readable.from([]));
      expect(await store.get('empty')).toHaveLength(0);
      expect(await store.size('empty')).toBe(0);
    });

    it('an object is replaced by a later write', async () => {
      await store.put('key', Buffer.from('first, and longer'));
      await store.put('key', Buffer.from('second'));
      expect(Buffer.from(await store.get('key')).toString()).toBe('second');
    });

    it('an object is gone once removed, and a second removal is not an error', async () => {
      await store.put('key', Buffer.from('content'));
      await store.remove('key');
      await store.remove('key');
      await expect(store.get('key')).rejects.toBeInstanceOf(ObjectNotFoundError);
      expect(await opened.stored()).toEqual([]);
    });

    it('reading an object that never existed fails as not found', async () => {
      await expect(store.get('jobs/none')).rejects.toThrow(ObjectNotFoundError);
      await expect(store.stream('jobs/none')).rejects.toThrow(ObjectNotFoundError);
      await expect(store.size('jobs/none')).rejects.toThrow(ObjectNotFoundError);
    });
  });

  describe('a failed put', () => {
    it.each([
      { when: 'half-way', bytes: 100_000 },
      { when: 'after many megabytes', bytes: 9_000_000 },
    ])('a put leaves nothing behind when its stream fails $when', async ({ bytes }) => {
      const content = new PassThrough();
      const put = store.put('jobs/job_1.0', content);
      put.catch(() => {});
      await new Promise((resolve) => content.write(Buffer.alloc(bytes), resolve));
      content.destroy(new Error('the body broke off'));
      await expect(put).rejects.toThrow('the body broke off');
      expect(await opened.stored()).toEqual([]);
    });

    it('a put leaves nothing behind when its stream had already failed', async () => {
      const content = new PassThrough();
      content.destroy(new Error('the body broke off'));
      await expect(once(content, 'close')).rejects.toThrow('the body broke off');
      await expect(store.put('jobs/job_1.0', content)).rejects.toThrow();
      expect(await opened.stored()).toEqual([]);
    });

    it('a put leaves nothing behind when its stream closes prematurely', async () => {
      const content = new PassThrough();
      const put = store.put('jobs/job_1.0', content);
      content.write('half');
      content.destroy();
      await expect(put).rejects.toThrow();
      expect(await opened.stored()).toEqual([]);
    });

    it('a failed put keeps the previous object', async () => {
      await store.put('key', Buffer.from('whole'));
      const content = new PassThrough();
      const put = store.put('key', content);
      content.destroy(new Error('the body broke off'));
      await expect(put).rejects.toThrow();
      expect(Buffer.from(await store.get('key')).toString()).toBe('whole');
      expect(await opened.stored()).toHaveLength(1);
    });
  });

  it('an object is invisible until it is complete', async () => {
    const content = new PassThrough();
    const put = store.put('jobs/job_1.0', content);
    content.write('half');
    await expect(store.get('jobs/job_1.0')).rejects.toThrow(ObjectNotFoundError);
    expect(await keys('jobs')).toEqual([]);
    content.end(' and half');
    await put;
    expect(await keys('jobs')).toEqual(['jobs/job_1.0']);
  });

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
  ])('the key %j is refused by every operation', async (key) => {
    const calls: ((key: string) => Promise<unknown>)[] = [
      (name) => store.put(name, Buffer.from('x')),
      (name) => store.get(name),
      (name) => store.stream(name),
      (name) => store.size(name),
      (name) => store.remove(name),
      (name) => keys(name),
    ];
    for (const call of calls) await expect(call(key)).rejects.toThrow(/storage key/);
    expect(await opened.stored()).toEqual([]);
  });

  describe('a list', () => {
    it('a list contains the objects under a prefix with the times of their writes', async () => {
      const before = Date.now();
      for (const key of ['jobs/job_1.0', 'jobs/job_1.1', 'jobs/job_2.0', 'uploads/upl_1.parts/0', 'uploads/upl_1.a']) {
        await store.put(key, Buffer.from('x'));
      }
      expect(await keys('jobs')).toEqual(['jobs/job_1.0', 'jobs/job_1.1', 'jobs/job_2.0']);
      expect(await keys('uploads')).toEqual(['uploads/upl_1.a', 'uploads/upl_1.parts/0']);
      expect(await keys('uploads/upl_1.parts')).toEqual(['uploads/upl_1.parts/0']);
      for await (const { modifiedAt } of store.list('jobs')) {
        // A bucket counts in seconds.
        expect(modifiedAt.getTime()).toBeGreaterThanOrEqual(before - 1_000);
        expect(modifiedAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
      }
    });

    it('a list is empty where nothing was written', async () => {
      expect(await keys('jobs')).toEqual([]);
    });
  });

  it(`${concurrentWrites} concurrent writes all arrive complete`, async () => {
    const names = Array.from({ length: concurrentWrites }, (_, index) => `jobs/job_${index}.0`);
    await Promise.all(names.map((name) => store.put(name, Buffer.from(name))));
    expect(await keys('jobs')).toEqual(names.toSorted());
    expect(Buffer.from(await store.get('jobs/job_99.0')).toString()).toBe('jobs/job_99.0');
  }, 120_000);
}

export function* inChunks(content: Buffer, bytes: number): Generator<Buffer> {
  for (let start = 0; start < content.length; start += bytes) yield content.subarray(start, start + bytes);
}
