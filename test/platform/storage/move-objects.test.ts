/** Objects are moved from one store to another while the service uses both. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDiskStore } from '../../../src/platform/storage/disk-store.ts';
import { createLayeredStore } from '../../../src/platform/storage/layered-store.ts';
import { moveObjects } from '../../../src/platform/storage/move-objects.ts';
import { type ObjectStore, StoreUnavailableError } from '../../../src/platform/storage/object-store.ts';
import { steeredStore } from '../../support/steered-store.ts';
import { describeStore, keysUnder } from './store-contract.ts';

let directory: string;
let from: ObjectStore;
let to: ObjectStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'move-'));
  from = createDiskStore(join(directory, 'from'));
  to = createDiskStore(join(directory, 'to'));
});
afterEach(() => rm(directory, { recursive: true }));

const all = async (store: ObjectStore) => [
  ...(await keysUnder(store, 'artefacts')),
  ...(await keysUnder(store, 'jobs')),
  ...(await keysUnder(store, 'uploads')),
];
const KEYS = ['artefacts/art_1.png', 'jobs/job_1.0', 'jobs/job_2.0', 'uploads/upl_1', 'uploads/upl_2.parts/0'];

async function fill(store: ObjectStore): Promise<void> {
  for (const key of KEYS) await store.put(key, Buffer.from(`content of ${key}`));
}

const textAt = async (store: ObjectStore, key: string) => Buffer.from(await store.get(key)).toString();

describe('the contract of a layered store', () => {
  describeStore(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'layered-'));
    const [first, second] = ['first', 'second'].map((name) => createDiskStore(join(folder, name)));
    if (!first || !second) throw new Error('two stores');
    return {
      store: createLayeredStore(first, second),
      stored: async () => [...(await all(first)), ...(await all(second)), ...(await rest(first))],
      close: () => rm(folder, { recursive: true }),
    };
  });
});

/** Keys outside the folders of the service, as the contract uses them. */
async function rest(store: ObjectStore): Promise<string[]> {
  const found: string[] = [];
  for (const key of ['key', 'empty']) if (await store.size(key).catch(() => null)) found.push(key);
  return found;
}

describe('a layered store', () => {
  it('a layered store reads what only the second has, writes to the first, and removes from both', async () => {
    const both = createLayeredStore(to, from);
    await fill(from);
    expect(await textAt(both, 'jobs/job_1.0')).toBe('content of jobs/job_1.0');
    expect(await both.size('jobs/job_1.0')).toBe(23);
    await both.put('jobs/job_3.0', Buffer.from('new'));
    expect(await textAt(to, 'jobs/job_3.0')).toBe('new');
    expect(await keysUnder(both, 'jobs')).toEqual(['jobs/job_1.0', 'jobs/job_2.0', 'jobs/job_3.0']);
    for (const key of ['jobs/job_1.0', 'jobs/job_3.0']) await both.remove(key);
    expect([await keysUnder(to, 'jobs'), await keysUnder(from, 'jobs')]).toEqual([[], ['jobs/job_2.0']]);
  });

  it('a layered store finds an object that is moved between its two looks', async () => {
    await fill(from);
    const moving = steeredStore(() => from, {
      async get(key) {
        await moveObjects({ from, to });
        return from.get(key);
      },
    });
    expect(await textAt(createLayeredStore(to, moving), 'jobs/job_1.0')).toBe('content of jobs/job_1.0');
  });

  it('a layered store fails when the first is down, although the second has the object', async () => {
    await fill(from);
    const away = steeredStore(() => to, { get: () => Promise.reject(new StoreUnavailableError('away')) });
    await expect(createLayeredStore(away, from).get('jobs/job_1.0')).rejects.toThrow(StoreUnavailableError);
  });
});

describe('a move', () => {
  it('a move leaves every object in the other store, with its content, and nothing in the old one', async () => {
    await fill(from);
    expect(await moveObjects({ from, to })).toEqual({
      copied: KEYS.length,
      bytes: KEYS.reduce((sum, key) => sum + `content of ${key}`.length, 0),
      present: 0,
      removedMeanwhile: 0,
      left: 0,
      problems: [],
    });
    expect([await all(to), await all(from)]).toEqual([KEYS, []]);
    for (const key of KEYS) expect(await textAt(to, key)).toBe(`content of ${key}`);
  });

  it('a move only copies where the objects are to stay', async () => {
    await fill(from);
    await moveObjects({ from, to, keeps: true });
    expect([await all(to), await all(from)]).toEqual([KEYS, KEYS]);
  });

  it('a move that the other store broke off continues where it stopped', async () => {
    await fill(from);
    let puts = 0;
    const failing = steeredStore(() => to, {
      put(key, content) {
        puts += 1;
        if (puts > 2) return Promise.reject(new StoreUnavailableError('away'));
        return to.put(key, content);
      },
    });
    await expect(moveObjects({ from, to: failing })).rejects.toThrow(StoreUnavailableError);
    const { left } = await moveObjects({ from, to });
    expect(left).toBe(0);
    expect([await all(to), await all(from)]).toEqual([KEYS, []]);
  });

  it('a move leaves no file open that the other store did not read', async () => {
    await fill(from);
    const streams: Readable[] = [];
    const watched = steeredStore(() => from, {
      async stream(key) {
        const stream = await from.stream(key);
        streams.push(stream);
        return stream;
      },
    });
    const away = steeredStore(() => to, { put: () => Promise.reject(new StoreUnavailableError('away')) });
    await expect(moveObjects({ from: watched, to: away })).rejects.toThrow(StoreUnavailableError);
    expect(streams.length).toBeGreaterThan(0);
    expect(streams.filter(({ destroyed }) => !destroyed)).toEqual([]);
  });

  it('a move does not remove an original whose copy is not the same', async () => {
    await fill(from);
    const corrupting = steeredStore(() => to, {
      put: (key, content) => to.put(key, key === 'jobs/job_1.0' ? Buffer.from('another content') : content),
    });
    const report = await moveObjects({ from, to: corrupting });
    expect(report).toMatchObject({ copied: KEYS.length - 1, left: 1, problems: [{ key: 'jobs/job_1.0' }] });
    expect(await all(from)).toEqual(['jobs/job_1.0']);
  });

  it('a move changes nothing where the other store has other content', async () => {
    await fill(from);
    await to.put('jobs/job_1.0', Buffer.from('written later'));
    expect(await moveObjects({ from, to })).toMatchObject({ left: 1, problems: [{ key: 'jobs/job_1.0' }] });
    expect([await textAt(to, 'jobs/job_1.0'), await all(from)]).toEqual(['written later', ['jobs/job_1.0']]);
  });

  it('a move loses nothing beside another one', async () => {
    await fill(from);
    const reports = await Promise.all([moveObjects({ from, to }), moveObjects({ from, to })]);
    expect(reports.map(({ left }) => left)).toEqual([0, 0]);
    expect([await all(to), await all(from)]).toEqual([KEYS, []]);
    for (const key of KEYS) expect(await textAt(to, key)).toBe(`content of ${key}`);
  });

  it('a move passes over what the service removes meanwhile', async () => {
    await fill(from);
    const both = createLayeredStore(to, from);
    const removing = steeredStore(() => from, {
      async stream(key) {
        if (key === 'jobs/job_1.0') await both.remove(key);
        return from.stream(key);
      },
    });
    expect(await moveObjects({ from: removing, to })).toMatchObject({
      copied: KEYS.length - 1,
      removedMeanwhile: 1,
      left: 0,
    });
    expect(await all(both)).toEqual(KEYS.filter((key) => key !== 'jobs/job_1.0'));
  });
});
