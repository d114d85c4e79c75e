/**
 * versitygw, a real server of the S3 protocol that keeps its buckets in a folder.
 *
 * `node scripts/s3-server.ts COMMAND …` starts one, runs the command with the variables of a bucket in its environment, and
 * stops it: `node scripts/s3-server.ts npm start`. Without a command it serves until it is stopped.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../src/embedded/ports.ts';
import type { ProcessRecord } from '../src/embedded/process-record.ts';
import { type RunningProgram, startProgram, waitUntilReady } from '../src/embedded/program.ts';
import { VERSITYGW_PATH } from './install-versitygw.ts';
import { type ServedCommand, serveCommand } from './serve-command.ts';

export const S3_CREDENTIALS = { accessKeyId: 'vehicle-inference-tests', secretAccessKey: 'secret of the tests' };

export interface S3Server {
  endpoint: string;
  /** Where it keeps a bucket's objects, as files. */
  folderOf(bucket: string): string;
  createBucket(name: string): void;
  /** At the same address, with the same buckets, and another secret if one is given. */
  start(secretAccessKey?: string): Promise<RunningProgram>;
  stop(): Promise<void>;
}

export interface S3ServerOptions {
  /** Empty. */
  directory: string;
  record: ProcessRecord;
}

/** Call `start` next. @throws when it is not installed. */
export async function prepareS3Server({ directory, record }: S3ServerOptions): Promise<S3Server> {
  if (!existsSync(VERSITYGW_PATH))
    throw new Error('versitygw is not installed: `node scripts/install-versitygw.ts` builds it.');
  const buckets = join(directory, 'buckets');
  const metadata = join(directory, 'metadata');
  for (const folder of [buckets, metadata]) mkdirSync(folder);
  const port = await findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  let program: RunningProgram | null = null;
  const isReady = () =>
    fetch(`${endpoint}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  return {
    endpoint,
    folderOf: (bucket) => join(buckets, bucket),
    createBucket: (name) => mkdirSync(join(buckets, name)),
    async start(secretAccessKey = S3_CREDENTIALS.secretAccessKey) {
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
          ROOT_SECRET_KEY: secretAccessKey,
        },
        logPath,
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 10_000,
        record,
      });
      await waitUntilReady(program, isReady, { timeoutMs: 150_000, logPath });
      return program;
    },
    async stop() {
      await program?.stop();
      program = null;
    },
  };
}

/** What a process of the service reads to keep its files in the bucket. */
export const bucketVariables = (endpoint: string, bucket: string) => ({
  STORAGE: 'bucket',
  STORAGE_BUCKET: bucket,
  STORAGE_ENDPOINT: endpoint,
  AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
});

async function start(options: S3ServerOptions): Promise<ServedCommand> {
  const server = await prepareS3Server(options);
  const bucket = 'vehicle-inference';
  server.createBucket(bucket);
  const { exited } = await server.start();
  const environment = bucketVariables(server.endpoint, bucket);
  return {
    announcement: `The bucket ${bucket} is served at ${server.endpoint}`,
    environment,
    exited,
    stop: () => server.stop(),
  };
}

if (import.meta.main) process.exitCode = await serveCommand(start, process.argv.slice(2));
