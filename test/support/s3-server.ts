/** versitygw, a real server of the S3 protocol that keeps its buckets in a folder. */
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import { VERSITYGW_PATH } from '../../scripts/install-versitygw.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { ProcessRecord } from '../../src/embedded/process-record.ts';
import { type RunningProgram, startProgram, waitUntilReady } from '../../src/embedded/program.ts';

const isInstalled = existsSync(VERSITYGW_PATH);
export const S3_CREDENTIALS = { accessKeyId: 'vehicle-inference-tests', secretAccessKey: 'secret of the tests' };

/** A suite that needs the server. */
export const describeWithS3 = isInstalled ? describe : describe.skip;
/** Its name, which says what to do where the server is missing. */
export const nameWithS3 = (name: string): string =>
  isInstalled ? name : `${name}: versitygw is not installed, \`node scripts/install-versitygw.ts\` does: skipped`;

export interface S3Server {
  endpoint: string;
  /** Where it keeps a bucket's objects, as files. */
  folderOf(bucket: string): string;
  createBucket(name: string): void;
  stop(): Promise<void>;
  /** At the same address, with the same buckets. */
  start(): Promise<void>;
  /** Stops it and removes its buckets. */
  close(): Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 's3-'));
  const buckets = join(directory, 'buckets');
  const metadata = join(directory, 'metadata');
  for (const folder of [buckets, metadata]) mkdirSync(folder);
  const port = await findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const record = new ProcessRecord(join(directory, 'processes.json'));
  let program: RunningProgram | null = null;

  const start = async () => {
    const logPath = join(directory, 'versitygw.log');
    program = await startProgram({
      name: 'versitygw',
      command: VERSITYGW_PATH,
      // Metadata in files: not every file system has extended attributes.
      args: ['--port', `127.0.0.1:${port}`, '--health', '/health', 'posix', '--sidecar', metadata, buckets],
      workingDirectory: directory,
      environment: {
        PATH: process.env.PATH,
        ROOT_ACCESS_KEY: S3_CREDENTIALS.accessKeyId,
        ROOT_SECRET_KEY: S3_CREDENTIALS.secretAccessKey,
      },
      logPath,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 10_000,
      record,
    });
    const isReady = () =>
      fetch(`${endpoint}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitUntilReady(program, isReady, { timeoutMs: 150_000, logPath });
  };
  const stop = async () => {
    await program?.stop();
    program = null;
  };

  await start();
  return {
    endpoint,
    folderOf: (bucket) => join(buckets, bucket),
    createBucket: (name) => mkdirSync(join(buckets, name)),
    start,
    stop,
    async close() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
