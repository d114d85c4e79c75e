/** The sweep of stored files reads the store in pages, on one replica at a time, with flat memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openDatabase } from '../../src/database.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import type { ObjectStore } from '../../src/platform/storage/object-store.ts';
import { pagesOfKeys } from '../../src/platform/storage/pages-of-keys.ts';
import { STORED_FILES_PAGE, sweepStoredFiles } from '../../src/workers/sweep-stored-files.ts';
import { createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit } from '../support/jobs.ts';
import { recordLog } from '../support/log-record.ts';

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

it('removes the files of a page before it reads the next page', async () => {
  const count = 20 * STORED_FILES_PAGE + 1;
  const { store, seen } = listingStore((prefix) => (prefix === 'jobs' ? orphans(count) : []));
  await sweep(store);
  expect(seen.removed).toBe(count);
  expect(seen.mostWaiting).toBeLessThanOrEqual(STORED_FILES_PAGE);
});

it('keeps the files of a job that are in different pages', async () => {
  const customer = await createCustomer(orm, { test: 100 });
  const jobId = await admit(orm, customer);
  const keys = [`jobs/${jobId}.0`, ...orphans(STORED_FILES_PAGE), `jobs/${jobId}.1`];
  const { store, seen } = listingStore((prefix) => (prefix === 'jobs' ? keys : []));
  await sweep(store);
  expect(seen.removed).toBe(STORED_FILES_PAGE);
});

it('needs no more memory for two million files than for one page', async () => {
  const count = 2_000_000;
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
  // All keys at once take more than 200 MB, and half of them more than 100 MB.
  expect(mostInUse - before).toBeLessThan(50e6);
}, 300_000);

it('runs on one replica at a time; another one skips its pass', async () => {
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

it('ends after the current page when the sweeper stops', async () => {
  const stopping = new AbortController();
  const { store, seen } = listingStore((prefix) => (prefix === 'jobs' ? orphans(5 * STORED_FILES_PAGE) : []));
  const remove = async () => {
    seen.removed += 1;
    stopping.abort();
  };
  await sweep({ ...store, remove }, stopping.signal);
  expect(seen.removed).toBe(STORED_FILES_PAGE);
});
