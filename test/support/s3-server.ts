/** versitygw for the tests of buckets. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { prepareS3Server, S3_CREDENTIALS, type S3Server } from '../../scripts/s3-server.ts';
import { ProcessRecord } from '../../src/embedded/process-record.ts';

export { S3_CREDENTIALS };

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
