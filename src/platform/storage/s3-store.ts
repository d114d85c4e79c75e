import { PassThrough, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { randomToken } from '../ids.ts';
import {
  assertKey,
  isKey,
  ObjectNotFoundError,
  type ObjectStore,
  PARTIAL_PREFIX,
  StoreRefusedError,
  StoreUnavailableError,
} from './object-store.ts';
import { withTemporaryFile } from './temporary-file.ts';

export interface S3StoreOptions {
  bucket: string;
  /** Folder within the bucket that the store keeps to, without slashes at its ends; empty: the whole bucket. */
  prefix: string;
  /** Null: as the AWS SDK finds it, such as in `AWS_REGION`; `us-east-1` beside an endpoint. */
  region: string | null;
  /** Address of a server other than AWS; null: that of AWS. */
  endpoint: string | null;
  /** Server-side encryption that each write asks for; null: what the bucket does by default. */
  encryption: { algorithm: 'AES256' | 'aws:kms'; kmsKeyId: string | null } | null;
  /** Whether `linkTo` gives links; they begin with `publicEndpoint`, or with the endpoint when it is null. */
  links: { publicEndpoint: string | null } | null;
  /** How long a call goes on trying while the store is away, in milliseconds, beyond the client's own retries. */
  patienceMs?: number;
  /** Default: the AWS SDK looks for them in the environment, in files and at the machine. */
  credentials?: NonNullable<S3ClientConfig['credentials']>;
}

export interface S3Store extends ObjectStore {
  /** Writes, reads, lists and removes a small object. @throws StoreRefusedError, StoreUnavailableError */
  check(): Promise<void>;
}

/** A longer stream is written in parts of this size, one at a time; S3 takes no fewer than 5 MB and no more than 10,000 parts. */
const PART_BYTES = 8 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 3_000;
/** From the request to the head of the response, a part on its way included. */
const REPLY_TIMEOUT_MS = 10_000;
/** Without a byte in either direction. */
const IDLE_TIMEOUT_MS = 30_000;
/** Of one call, with its retries and, of an object that is read whole, its content. */
const CALL_TIMEOUT_MS = 25_000;
const ATTEMPTS = 3;
const MOST_CONNECTIONS = 100;
const PATIENCE_PAUSE_MS = 500;
/** Longer than a redirect takes to be followed. */
const LINK_LIFETIME_MS = 5 * 60_000;

/** Failures that S3 and its relatives report as faults of the caller, and that pass. */
const PASSING = /Timeout|Expired|Skewed|SlowDown|Throttl|Quota|Aborted|Conflict/;

/**
 * Stores objects in a bucket of S3 or of a server that speaks its protocol. Each write carries a CRC-32, which the server
 * verifies, and each read of a whole object is compared with it. Memory is bounded by two parts for each put in progress.
 */
export function createS3Store(options: S3StoreOptions): S3Store {
  const { bucket: Bucket, prefix, encryption, links, patienceMs = 0 } = options;
  const client = createClient(options, options.endpoint);
  const publicClient = links?.publicEndpoint ? createClient(options, links.publicEndpoint) : client;
  const base = prefix === '' ? '' : `${prefix}/`;
  const target = (key: string) => {
    assertKey(key);
    return { Bucket, Key: base + key };
  };
  const encrypted = encryption && {
    ServerSideEncryption: encryption.algorithm,
    ...(encryption.kmsKeyId !== null && { SSEKMSKeyId: encryption.kmsKeyId }),
  };

  /** Calls the store within its bounds; `work` may also read the response, which is then part of the call. */
  async function call<Result>(what: string, work: (abortSignal: AbortSignal) => Promise<Result>): Promise<Result> {
    const deadlineMs = performance.now() + patienceMs;
    for (;;) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), CALL_TIMEOUT_MS);
      try {
        return await work(deadline.signal);
      } catch (thrown) {
        const cause = deadline.signal.aborted ? new Error(`no reply within ${CALL_TIMEOUT_MS} ms`) : thrown;
        const error = errorOf(cause, `${what} in the bucket "${Bucket}"`);
        const mayPass = error instanceof StoreUnavailableError && !(error instanceof StoreRefusedError);
        if (!mayPass || performance.now() >= deadlineMs) throw error;
      } finally {
        clearTimeout(timer);
      }
      await delay(PATIENCE_PAUSE_MS);
    }
  }

  function putWhole(key: string, content: Uint8Array): Promise<unknown> {
    const command = new PutObjectCommand({ ...target(key), ...encrypted, Body: content, ChecksumAlgorithm: 'CRC32' });
    return call(`writing "${key}"`, (abortSignal) => client.send(command, { abortSignal }));
  }

  async function putInParts(key: string, first: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<void> {
    const what = `writing "${key}" in parts`;
    const whole = { ...target(key), ChecksumType: 'FULL_OBJECT' } as const;
    const { UploadId } = await call(what, (abortSignal) =>
      client.send(new CreateMultipartUploadCommand({ ...whole, ...encrypted, ChecksumAlgorithm: 'CRC32' }), {
        abortSignal,
      }),
    );
    try {
      const parts: CompletedPart[] = [];
      let [bytes, crc] = [0, 0];
      const send = async (content: Uint8Array) => {
        bytes += content.length;
        crc = crc32(content, crc);
        const part = { ...target(key), UploadId, PartNumber: parts.length + 1 };
        const { ETag, ChecksumCRC32 } = await call(what, (abortSignal) =>
          client.send(new UploadPartCommand({ ...part, Body: content, ChecksumAlgorithm: 'CRC32' }), { abortSignal }),
        );
        parts.push({ PartNumber: part.PartNumber, ETag, ChecksumCRC32 });
      };
      await send(first);
      for await (const content of rest) await send(content);
      const complete = { ...whole, UploadId, MultipartUpload: { Parts: parts }, ChecksumCRC32: base64Of(crc) };
      await call(what, (abortSignal) =>
        client.send(new CompleteMultipartUploadCommand(complete), { abortSignal }),
      ).catch(async (error: unknown) => {
        // An attempt whose reply was lost has completed it, or somebody aborted it.
        if (!(error instanceof ObjectNotFoundError)) throw error;
        if ((await store.size(key).catch(() => null)) === bytes) return;
        throw new StoreUnavailableError(`${what} in the bucket "${Bucket}" was aborted by somebody`);
      });
    } catch (error) {
      // What cannot be removed now is removed by `removeUnfinished`.
      const abandoned = new AbortMultipartUploadCommand({ ...target(key), UploadId });
      await client.send(abandoned, { abortSignal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) }).catch(() => {});
      throw error;
    }
  }

  const store: S3Store = {
    async put(key, content) {
      assertKey(key);
      if (content instanceof Uint8Array) {
        await putWhole(key, content);
        return;
      }
      // It may fail while nobody reads it; the next read then reports the failure.
      content.on('error', () => {});
      const parts = partsOf(content);
      try {
        const { value: first = Buffer.alloc(0) } = await parts.next();
        if (first.length < PART_BYTES) await putWhole(key, first);
        else await putInParts(key, first, parts);
      } finally {
        content.destroy();
      }
    },

    async get(key) {
      const command = new GetObjectCommand(target(key));
      return call(`reading "${key}"`, async (abortSignal) => {
        const { Body } = await client.send(command, { abortSignal });
        return (await Body?.transformToByteArray()) ?? new Uint8Array();
      });
    },

    async size(key) {
      const command = new HeadObjectCommand(target(key));
      const { ContentLength = 0 } = await call(`reading "${key}"`, (abortSignal) =>
        client.send(command, { abortSignal }),
      );
      return ContentLength;
    },

    async stream(key, range) {
      const what = `reading "${key}"`;
      const Range = range && `bytes=${range.start}-${range.end}`;
      const command = new GetObjectCommand({ ...target(key), Range });
      const { Body } = await call(what, (abortSignal) =>
        client.send(command, { abortSignal }).catch((error: Error) => {
          if (error.name === 'InvalidRange') return { Body: Readable.from([]) };
          throw error;
        }),
      );
      return endingTogether(Body as Readable, (error) => errorOf(error, `${what} in the bucket "${Bucket}"`));
    },

    withFile: async (key, use) => withTemporaryFile(await store.stream(key), use),

    async remove(key) {
      const command = new DeleteObjectCommand(target(key));
      await call(`removing "${key}"`, (abortSignal) => client.send(command, { abortSignal }));
    },

    async *list(folder) {
      const { Key } = target(folder);
      let page: string | undefined;
      do {
        const command = new ListObjectsV2Command({ Bucket, Prefix: `${Key}/`, ContinuationToken: page });
        const listed = await call(`listing "${folder}"`, (abortSignal) => client.send(command, { abortSignal }));
        for (const { Key: found = '', LastModified: modifiedAt } of listed.Contents ?? []) {
          const key = found.slice(base.length);
          if (modifiedAt && isKey(key)) yield { key, modifiedAt };
        }
        page = listed.IsTruncated ? listed.NextContinuationToken : undefined;
      } while (page !== undefined);
    },

    async removeUnfinished(begunBefore, signal) {
      let after: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | null = {};
      while (after && !signal?.aborted) {
        const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
          Bucket,
          Prefix: base,
          ...after,
        });
        const listed = await call('listing unfinished objects', (abortSignal) => client.send(command, { abortSignal }));
        for (const { Key, UploadId, Initiated } of listed.Uploads ?? []) {
          if (signal?.aborted) return;
          if (!Initiated || Initiated >= begunBefore) continue;
          const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
          await call('removing an unfinished object', (abortSignal) => client.send(abort, { abortSignal })).catch(
            // It was finished or removed meanwhile.
            (error: unknown) => {
              if (!(error instanceof ObjectNotFoundError)) throw error;
            },
          );
        }
        after = listed.IsTruncated
          ? { KeyMarker: listed.NextKeyMarker, UploadIdMarker: listed.NextUploadIdMarker }
          : null;
      }
      for await (const { key, modifiedAt } of store.list(PARTIAL_PREFIX)) {
        if (signal?.aborted) return;
        if (modifiedAt < begunBefore) await store.remove(key);
      }
    },

    async check() {
      const key = `${PARTIAL_PREFIX}/${randomToken()}`;
      const content = Buffer.from(key);
      await store.put(key, content);
      try {
        if (!content.equals(await store.get(key))) {
          throw new StoreUnavailableError(`The bucket "${Bucket}" returns something other than what was written.`);
        }
        for await (const _ of store.list(PARTIAL_PREFIX)) break;
        await store.removeUnfinished(new Date(0));
      } finally {
        await store.remove(key);
      }
    },
  };
  if (links === null) return store;
  return {
    ...store,
    linkTo(key, { contentType }) {
      const command = new GetObjectCommand({
        ...target(key),
        ResponseContentType: contentType,
        ResponseCacheControl: 'private, max-age=86400, immutable',
      });
      return getSignedUrl(publicClient, command, { expiresIn: LINK_LIFETIME_MS / 1_000 });
    },
  };
}

function createClient({ region, credentials }: S3StoreOptions, endpoint: string | null): S3Client {
  return new S3Client({
    ...(endpoint !== null && {
      endpoint,
      // Other servers seldom have a name for each bucket.
      forcePathStyle: true,
    }),
    ...((region ?? endpoint) !== null && { region: region ?? 'us-east-1' }),
    ...(credentials && { credentials }),
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REPLY_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_TIMEOUT_MS,
      // Otherwise the client prints a warning when calls wait for a connection, which the bounds above limit.
      socketAcquisitionWarningTimeout: 2 * CALL_TIMEOUT_MS,
      httpAgent: { maxSockets: MOST_CONNECTIONS },
      httpsAgent: { maxSockets: MOST_CONNECTIONS },
    },
  });
}

/** The content in pieces of the size of a part; the last may be shorter. */
async function* partsOf(content: Readable): AsyncGenerator<Buffer, undefined> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    for (let rest = chunk; rest.length > 0; ) {
      const piece = rest.subarray(0, PART_BYTES - bytes);
      rest = rest.subarray(piece.length);
      pieces.push(piece);
      bytes += piece.length;
      if (bytes < PART_BYTES) continue;
      const part = Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
      yield part;
    }
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}

/** The body of a response, with its errors translated; whoever destroys it closes the connection. */
function endingTogether(body: Readable, translate: (error: unknown) => Error): Readable {
  const content = new PassThrough();
  body.on('error', (error) => content.destroy(translate(error)));
  content.on('close', () => body.destroy());
  return body.pipe(content);
}

function base64Of(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString('base64');
}

/**
 * What a failure of the client means for the caller. The client's errors hold parts of the request, such as the id of a key,
 * so only their names and messages go on.
 */
function errorOf(thrown: unknown, what: string): Error {
  if (thrown instanceof StoreUnavailableError || !(thrown instanceof Error)) return thrown as Error;
  const { $metadata } = thrown as Error & { $metadata?: { httpStatusCode?: number; requestId?: string } };
  const status = $metadata?.httpStatusCode;
  if (/^(?:NoSuchKey|NotFound|NoSuchUpload)$/.test(thrown.name)) {
    return new ObjectNotFoundError(`there is no such object: ${what}`);
  }
  const reason = [thrown.name, thrown.message, status && `status ${status}`].filter(Boolean).join(', ');
  const isFault = status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
  if ((isFault && !PASSING.test(thrown.name)) || thrown.name === 'CredentialsProviderError') {
    return new StoreRefusedError(`The store refuses ${what}: ${reason}`);
  }
  return new StoreUnavailableError(`The store failed at ${what}: ${reason}`);
}
