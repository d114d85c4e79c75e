/** versitygw for the tests of buckets. */
import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { describe } from '@jest/globals';
import { VERSITYGW_PATH } from '../../scripts/install-versitygw.ts';
import { prepareS3Server, S3_CREDENTIALS, type S3Server } from '../../scripts/s3-server.ts';
import { ProcessRecord } from '../../src/embedded/process-record.ts';

export { S3_CREDENTIALS };

const isInstalled = existsSync(VERSITYGW_PATH);

/** A suite that needs the server. */
export const describeWithS3 = isInstalled ? describe : describe.skip;
/** Its name, which says what to do where the server is missing. */
export const nameWithS3 = (name: string): string =>
  isInstalled ? name : `${name}: versitygw is not installed, \`node scripts/install-versitygw.ts\` does: skipped`;

export interface TestS3Server extends S3Server {
  /** Stops it and removes its buckets. */
  close(): Promise<void>;
}

export async function startS3Server(): Promise<TestS3Server> {
  const directory = mkdtempSync(join(tmpdir(), 's3-'));
  const server = await prepareS3Server({
    directory,
    record: new ProcessRecord(join(directory, 'processes.json')),
  });
  await server.start();
  return {
    ...server,
    async close() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export const s3ClientOf = (endpoint: string): S3Client =>
  new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials: S3_CREDENTIALS });

/** Keys of the multipart uploads that were neither completed nor aborted. */
export async function unfinishedIn(endpoint: string, bucket: string, prefix = ''): Promise<string[]> {
  const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix });
  const { Uploads = [] } = await s3ClientOf(endpoint).send(command);
  return Uploads.map(({ Key }) => Key ?? '');
}
