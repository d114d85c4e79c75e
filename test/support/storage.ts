/** Where tests keep files: in a folder, or in the bucket that `node scripts/s3-server.ts` gives them. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/platform/config/config.ts';
import { randomToken } from '../../src/platform/ids.ts';
import { createDiskStore } from '../../src/platform/storage/disk-store.ts';
import type { ObjectStore } from '../../src/platform/storage/object-store.ts';

export interface TestStorage {
  store: ObjectStore;
  /** Paths of everything in it, half-written objects included. */
  storedFiles: () => Promise<string[]>;
  close: () => Promise<void>;
}

const BUCKET_VARIABLES = [
  'STORAGE',
  'STORAGE_BUCKET',
  'STORAGE_ENDPOINT',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
] as const;

/** The variables of the bucket that the tests were given, for processes that inherit none; empty without one. */
export function bucketOfTests(): Record<string, string> {
  const given = BUCKET_VARIABLES.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(given.filter((entry): entry is [(typeof entry)[0], string] => entry[1] !== undefined));
}

/** Empty. Call its `close` in `afterAll`. */
export function openTestStorage(): Promise<TestStorage> {
  return readConfig('storage').STORAGE[0] === 'bucket' ? openInBucket() : openInFolder();
}

async function openInFolder(): Promise<TestStorage> {
  const directory = await mkdtemp(join(tmpdir(), 'storage-'));
  return {
    store: createDiskStore(directory),
    async storedFiles() {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

async function openInBucket(): Promise<TestStorage> {
  // A second that tests without a bucket do not need.
  const [{ createS3Store }, { S3_CREDENTIALS, unfinishedIn }] = await Promise.all([
    import('../../src/platform/storage/s3-store.ts'),
    import('./s3-server.ts'),
  ]);
  const { STORAGE_ENDPOINT, STORAGE_BUCKET } = readConfig('storage');
  const { bucket } = STORAGE_BUCKET;
  const endpoint = String(STORAGE_ENDPOINT);
  const own = `${STORAGE_BUCKET.prefix}/${randomToken()}`;
  const under = (prefix: string) =>
    createS3Store({
      bucket,
      prefix,
      endpoint,
      region: null,
      encryption: null,
      links: null,
      credentials: S3_CREDENTIALS,
    });
  return {
    store: under(own),
    async storedFiles() {
      const files = await unfinishedIn(endpoint, bucket, own);
      for await (const { key } of under('').list(own)) files.push(key);
      return files;
    },
    close: async () => {},
  };
}
