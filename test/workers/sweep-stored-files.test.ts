/** The sweep of stored files reads the store in pages, on one replica at a time, with flat memory. */
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { createDiskStore } from '../../src/platform/storage/disk-store.ts';
import { type ObjectStore, StoreRefusedError, StoreUnavailableError } from '../../src/platform/storage/object-store.ts';
import { pagesOfKeys } from '../../src/platform/storage/pages-of-keys.ts';
import { STORED_FILES_PAGE, sweepStoredFiles } from '../../src/workers/sweep-stored-files.ts';
import { createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit } from '../support/jobs.ts';
import { recordLog } from '../support/log-record.ts';
import { steeredStore } from '../support/steered-store.ts';

const LONG_AGO = new Date('2026-01-01');

let database: TestDatabase;
let orm: MikroORM;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 5 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

/** A store without content that lists given keys, and counts those that were listed and not yet removed. */
function listingStore(keysUnder: (prefix: string) => Iterable<string>) {
  const seen = { listed: 0, removed: 0, mostWaiting: 0 };
  const store = {
    async *list(prefix: string) {
      for (const key of keysUnder(prefix)) {
        seen.listed += 1;
        seen.mostWaiting = Math.max(seen.mostWaiting, seen.listed - seen.removed);
        yield { key, modifiedAt: LONG_AGO };
      }
    },
    async remove() {
      seen.removed += 1;
    },
    async removeUnfinished() {},
  } satisfies Partial<ObjectStore>;
  return { store: store as unknown as ObjectStore, seen };
}

function* orphans(count: number): Generator<string> {
  for (let file = 0; file < count; file += 1) yield `jobs/${newId('job')}.0`;
}

/** Of this thread's heap, without the garbage. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

const sweep = (store: ObjectStore, signal?: AbortSignal) =>
  sweepStoredFiles({ orm, store, logger: recordLog().logger, ...(signal && { signal }) });

it('the sweep of files removes the files of a page before it reads the next page', async () => {
  const count = 20 * STORED_FILES_PAGE + 1;
  const { store, seen } = listingStore((prefix) => (prefix === 'jobs' ? orphans(count) : []));
  await sweep(store);
  expect(seen.removed).toBe(count);
  expect(seen.mostWaiting).toBeLessThanOrEqual(STORED_FILES_PAGE);
});

it('the sweep of files keeps the files of a job that are in different pages', async () => {
  const customer = await createCustomer(orm, { test: 100 });
  const jobId = await admit(orm, customer);
  const keys = [`jobs/${jobId}.0`, ...orphans(STORED_FILES_PAGE), `jobs/${jobId}.1`];
  const { store, seen } = listingStore((prefix) => (prefix === 'jobs' ? keys : []));
  await sweep(store);
  expect(seen.removed).toBe(STORED_FILES_PAGE);
});

it('the sweep of files needs no more memory for 400,000 files than for one page', async () => {
  const count = 400_000;
  const { store, seen } = listingStore(function* () {
    for (let file = 0; file < count; file += 1) yield `jobs/job_${file}.0`;
  });
  const before = bytesInUse();
  let [files, mostAhead, mostInUse] = [0, 0, 0];
  for await (const page of pagesOfKeys(store.list('jobs'), {
    writtenBefore: new Date(),
    pageSize: STORED_FILES_PAGE,
  })) {
    mostAhead = Math.max(mostAhead, seen.listed - files);
    files += page.length;
    if (files % (count / 2) === 0) mostInUse = Math.max(mostInUse, bytesInUse());
  }
  expect(files).toBe(count);
  expect(mostAhead).toBe(STORED_FILES_PAGE);
  // All keys at once take more than 40 MB.
  expect(mostInUse - before).toBeLessThan(15e6);
});

it('the sweep of files runs on one replica at a time; another one skips its pass', async () => {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const blocked = {
    async *list() {
      entered.resolve();
      await release.promise;
      yield* [];
    },
    async removeUnfinished() {},
  } as unknown as ObjectStore;
  const first = sweep(blocked);
  await entered.promise;
  const { store, seen } = listingStore(() => orphans(1));
  await sweep(store);
  expect(seen.listed).toBe(0);
  release.resolve();
  await first;
  await sweep(store);
  expect(seen.listed).toBeGreaterThan(0);
});

it('the sweep of files ends after the current page when the sweeper stops', async () => {
  const stopping = new AbortController();
  const { store, seen } = listingStore((prefix) => (prefix === 'jobs' ? orphans(5 * STORED_FILES_PAGE) : []));
  const remove = async () => {
    seen.removed += 1;
    stopping.abort();
  };
  await sweep({ ...store, remove }, stopping.signal);
  expect(seen.removed).toBe(STORED_FILES_PAGE);
});

describe('a failure in the sweep of files', () => {
  let directory: string;
  let store: ObjectStore;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'stored-files-'));
    store = createDiskStore(directory);
    for (const key of [
      'artefacts/a',
      'artefacts/b',
      'artefacts/c',
      'partial/left',
      'jobs/job_gone.0',
      'uploads/upl_gone',
    ]) {
      await store.put(key, Buffer.from('x'));
      await age(key);
    }
  });
  afterEach(() => rm(directory, { recursive: true }));

  const age = (path: string) => utimes(join(directory, path), LONG_AGO, LONG_AGO);
  const stored = async () => {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => join(parentPath, name).slice(directory.length + 1))
      .toSorted();
  };
  const refusing = (refused: string, error: Error) =>
    steeredStore(() => store, { remove: async (key) => (key === refused ? Promise.reject(error) : store.remove(key)) });

  it.each(['artefacts/a', 'artefacts/b', 'artefacts/c', 'jobs/job_gone.0'])(
    'the other files are removed when the store refuses to remove %s; one warning reports it',
    async (refused) => {
      const log = recordLog();
      const held = refusing(refused, new StoreRefusedError('on legal hold'));
      await sweepStoredFiles({ orm, store: held, logger: log.logger });
      expect(await stored()).toEqual([refused]);
      const warnings = log.lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
      expect(warnings).toMatchObject([{ objects: 1, err: { message: 'on legal hold' } }]);
    },
  );

  it('files that are not the store’s stay, and the others are removed', async () => {
    const foreign = ['artefacts/.DS_Store', 'artefacts/a copy', 'partial/.nfs01', 'uploads/.keep'];
    for (const path of foreign) {
      await writeFile(join(directory, path), 'x');
      await age(path);
    }
    await sweep(store);
    expect(await stored()).toEqual(foreign.toSorted());
  });

  it.each([
    { what: 'a listing', failing: { list: (prefix: string) => listAllBut('artefacts', prefix) }, left: 3 },
    { what: 'the search for unfinished writes', failing: { removeUnfinished: () => failed() }, left: 1 },
  ])('files are removed although $what fails; the pass then fails for that', async ({ failing, left }) => {
    await expect(sweep(steeredStore(() => store, failing))).rejects.toThrow('the folder is away');
    expect(await stored()).toHaveLength(left);
  });

  function listAllBut(unreadable: string, prefix: string): ReturnType<ObjectStore['list']> {
    return prefix === unreadable ? failed() : store.list(prefix);
  }
  function failed(): never {
    throw new Error('the folder is away');
  }

  it('a store that is down ends the pass at once', async () => {
    let removals = 0;
    const away = steeredStore(() => store, {
      remove: () => {
        removals += 1;
        return Promise.reject(new StoreUnavailableError('away'));
      },
    });
    await expect(sweep(away)).rejects.toThrow(StoreUnavailableError);
    expect(removals).toBe(1);
    expect(await stored()).toHaveLength(6);
  });
});
