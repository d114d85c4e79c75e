/** The S3 store against a real server of the protocol. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { CreateMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StoreRefusedError, StoreUnavailableError } from '../../../src/platform/storage/object-store.ts';
import { createS3Store, type S3StoreOptions } from '../../../src/platform/storage/s3-store.ts';
import { describeWith } from '../../support/needs.ts';
import { S3_CREDENTIALS, s3ClientOf, startS3Server, type TestS3Server, unfinishedIn } from '../../support/s3-server.ts';
import { describeStore, keysUnder, textOf } from './store-contract.ts';

let server: TestS3Server;
let buckets = 0;

/** Options for a bucket of its own. */
function options(other: Partial<S3StoreOptions> = {}): S3StoreOptions {
  buckets += 1;
  const bucket = `bucket-${buckets}`;
  server.createBucket(bucket);
  return {
    bucket,
    prefix: 'files/of-tests',
    region: null,
    endpoint: server.endpoint,
    encryption: null,
    links: null,
    credentials: S3_CREDENTIALS,
    ...other,
  };
}

describeWith('versitygw', 'an S3 store', () => {
  beforeAll(async () => {
    server = await startS3Server();
  });
  afterAll(() => server.close());

  describe('the contract of a store', () => {
    describeStore(
      async () => {
        // A machine that does much else may take its time.
        const of = options({ patienceMs: 60_000 });
        const store = createS3Store(of);
        // Seen from outside the prefix, too.
        const whole = createS3Store({ ...of, prefix: '' });
        return {
          store,
          stored: async () => [
            ...(await keysUnder(whole, 'files')),
            ...(await unfinishedIn(server.endpoint, of.bucket)),
          ],
          close: async () => {},
        };
      },
      { concurrentWrites: 200 },
    );
  });

  it('the check of an S3 store passes when its credentials allow reading and writing', async () => {
    await expect(createS3Store(options()).check()).resolves.toBeUndefined();
  });

  it.each([
    { what: 'a wrong secret', wrong: { credentials: { ...S3_CREDENTIALS, secretAccessKey: 'wrong-secret' } } },
    { what: 'an unknown key', wrong: { credentials: { accessKeyId: 'unknown', secretAccessKey: 'wrong-secret' } } },
    { what: 'a bucket that does not exist', wrong: { bucket: 'no-such-bucket' } },
  ])('the check of an S3 store refuses $what with a clear error that shows no secret', async ({ wrong }) => {
    const refused = await createS3Store({ ...options(), ...wrong })
      .check()
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreRefusedError);
    expect(String(refused)).toMatch(/The store refuses writing .* in the bucket ".*": \w+, .*status 40\d/);
    const everything = JSON.stringify(refused, Object.getOwnPropertyNames(refused));
    expect(everything).not.toMatch(/wrong-secret|secret of the tests|Signature=/);
  });

  describe('a server that is away', () => {
    it('each call fails as unavailable while the server is down, and the next one succeeds when it is back', async () => {
      const store = createS3Store(options());
      await store.put('key', Buffer.from('content'));
      await server.stop();
      try {
        const outcomes = await Promise.allSettled([
          store.put('other', Buffer.from('x')),
          store.put('other', Readable.from([Buffer.from('x')])),
          store.get('key'),
          store.size('key'),
          store.stream('key'),
          store.remove('key'),
          store.withFile('key', async () => {}),
          keysUnder(store, 'jobs'),
          store.removeUnfinished(new Date()),
        ]);
        for (const outcome of outcomes) {
          expect(outcome).toEqual({ status: 'rejected', reason: expect.any(StoreUnavailableError) });
          expect(outcome).not.toMatchObject({ reason: expect.any(StoreRefusedError) });
        }
      } finally {
        await server.start();
      }
      expect(Buffer.from(await store.get('key')).toString()).toBe('content');
    });

    it('a store with patience waits for a server that is down', async () => {
      const store = createS3Store(options({ patienceMs: 60_000 }));
      await store.put('key', Buffer.from('content'));
      await server.stop();
      const read = store.get('key');
      await server.start();
      expect(Buffer.from(await read).toString()).toBe('content');
    });
  });

  it('what a killed writer left is removed once it is old enough, and other objects stay', async () => {
    const of = options();
    const store = createS3Store(of);
    const begin = (Key: string) =>
      s3ClientOf(server.endpoint).send(
        new CreateMultipartUploadCommand({ Bucket: of.bucket, Key, ChecksumAlgorithm: 'CRC32' }),
      );
    for (const name of ['a', 'b']) await begin(`${of.prefix}/uploads/${name}`);
    await begin('of another service');
    await store.put('uploads/upl_1', Buffer.from('content'));
    await store.removeUnfinished(new Date(Date.now() - 60_000));
    expect(await unfinishedIn(server.endpoint, of.bucket)).toHaveLength(3);
    await store.removeUnfinished(new Date(Date.now() + 60_000));
    expect(await unfinishedIn(server.endpoint, of.bucket)).toEqual(['of another service']);
    expect(await keysUnder(store, 'uploads')).toEqual(['uploads/upl_1']);
  });

  it('a list leaves out objects of others whose names are no keys', async () => {
    const of = options();
    const store = createS3Store(of);
    await store.put('uploads/upl_1', Buffer.from('content'));
    for (const name of ['.DS_Store', 'a copy']) {
      const Key = `${of.prefix}/uploads/${name}`;
      await s3ClientOf(server.endpoint).send(new PutObjectCommand({ Bucket: of.bucket, Key, Body: 'x' }));
    }
    expect(await keysUnder(store, 'uploads')).toEqual(['uploads/upl_1']);
  });

  it('an S3 store lists more objects than a page of the protocol has', async () => {
    // A hundred requests at once, on a machine that is busy with other tests.
    const store = createS3Store({ ...options(), patienceMs: 60_000 });
    const keys = Array.from({ length: 1_100 }, (_, index) => `jobs/job_${String(index).padStart(4, '0')}.0`);
    for (let start = 0; start < keys.length; start += 100) {
      await Promise.all(keys.slice(start, start + 100).map((key) => store.put(key, Buffer.from('x'))));
    }
    expect(await keysUnder(store, 'jobs')).toEqual(keys);
  }, 120_000);

  it.each([
    { what: 'small', bytes: 1_000 },
    { what: 'large', bytes: 9_000_000 },
  ])('content of a $what object that changed in the bucket is not returned', async ({ bytes }) => {
    const of = options();
    const store = createS3Store(of);
    await store.put('key', Readable.from([Buffer.alloc(bytes, 'a')]));
    const path = join(server.folderOf(of.bucket), of.prefix, 'key');
    const changed = readFileSync(path);
    changed[bytes / 2] = 98;
    writeFileSync(path, changed);
    await expect(store.get('key')).rejects.toThrow(StoreUnavailableError);
    await expect(textOf(store.stream('key'))).rejects.toThrow(StoreUnavailableError);
  });

  it('a stream that its reader gives up closes its connection', async () => {
    const store = createS3Store(options());
    await store.put('uploads/upl_1', Readable.from([Buffer.alloc(20_000_000)]));
    const content = await store.stream('uploads/upl_1');
    await once(content, 'readable');
    const closed = once(content, 'close');
    content.destroy();
    await closed;
    expect(Buffer.from(await store.get('uploads/upl_1'))).toHaveLength(20_000_000);
  });

  it('the links of an S3 store are read by anybody, with ranges and the given type, and only while unchanged', async () => {
    const store = createS3Store(options({ links: { publicEndpoint: null } }));
    await store.put('artefacts/art_1.png', Buffer.from('content'));
    const link = (await store.linkTo?.('artefacts/art_1.png', { contentType: 'image/png' })) ?? '';
    const whole = await fetch(link);
    expect([whole.status, whole.headers.get('Content-Type'), await whole.text()]).toEqual([
      200,
      'image/png',
      'content',
    ]);
    const part = await fetch(link, { headers: { Range: 'bytes=1-3' } });
    expect([part.status, await part.text()]).toEqual([206, 'ont']);
    expect((await fetch(link.replace('art_1', 'art_2'))).status).toBe(403);
    expect(Number(new URL(link).searchParams.get('X-Amz-Expires'))).toBe(300);
  });

  it('the links of an S3 store begin with the address that customers reach', async () => {
    const links = { publicEndpoint: 'https://files.example' };
    const store = createS3Store(options({ links }));
    const link = (await store.linkTo?.('artefacts/art_1.png', { contentType: 'image/png' })) ?? '';
    expect(link).toMatch(/^https:\/\/files\.example\/bucket-\d+\/files\/of-tests\/artefacts\/art_1\.png\?/);
    expect(createS3Store(options()).linkTo).toBeUndefined();
  });
});

describe('a server that responds with given replies', () => {
  interface Reply {
    status: number;
    body: string;
    headers?: Record<string, string>;
  }
  let respond: (method: string, url: string, bytes: number) => Reply | Promise<Reply>;
  const requests: { method: string; url: string; headers: NodeJS.Dict<string | string[]> }[] = [];
  const http = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, headers });
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => {
      void Promise.resolve(respond(method, url, bytes)).then(({ status, body, headers: extra }) =>
        response.writeHead(status, { 'Content-Type': 'application/xml', ...extra }).end(body),
      );
    });
  });
  let store: ReturnType<typeof createS3Store>;

  beforeAll(async () => {
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
  });
  afterAll(async () => {
    const closed = once(http, 'close');
    http.close();
    http.closeAllConnections();
    await closed;
  });
  beforeEach(() => {
    requests.length = 0;
    store = createS3Store({
      bucket: 'bucket',
      prefix: '',
      region: null,
      endpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
      encryption: { algorithm: 'aws:kms', kmsKeyId: 'key-of-the-tests' },
      links: null,
      credentials: S3_CREDENTIALS,
    });
  });

  const errorBody = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`;
  const uploadBegun = '<InitiateMultipartUploadResult><UploadId>upload-1</UploadId></InitiateMultipartUploadResult>';

  it.each([
    { code: 'SlowDown', status: 503, attempts: 3 },
    { code: 'InternalError', status: 500, attempts: 3 },
    { code: 'InsufficientStorage', status: 507, attempts: 1 },
    { code: 'QuotaExceeded', status: 403, attempts: 1 },
    { code: 'ExpiredToken', status: 400, attempts: 1 },
  ])(
    'a put that gets $status $code is tried $attempts times and then unavailable',
    async ({ code, status, attempts }) => {
      respond = () => ({ status, body: errorBody(code) });
      const error = await store.put('key', Buffer.from('content')).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(error).not.toBeInstanceOf(StoreRefusedError);
      expect(requests.map(({ method }) => method)).toEqual(Array.from({ length: attempts }, () => 'PUT'));
    },
  );

  it('a put succeeds once the server is no longer overloaded', async () => {
    respond = () => (requests.length < 3 ? { status: 503, body: errorBody('SlowDown') } : { status: 200, body: '' });
    await store.put('key', Buffer.from('content'));
    expect(requests).toHaveLength(3);
  });

  it('each write carries a checksum and the encryption', async () => {
    respond = () => ({ status: 200, body: '' });
    await store.put('key', Buffer.from('content'));
    expect(requests[0]?.headers).toMatchObject({
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'key-of-the-tests',
      // CRC-32 of "content", in base64.
      'x-amz-checksum-crc32': '/sUwqQ==',
    });
  });

  it('a server that has not replied is sent one part, and no more than another part is read meanwhile', async () => {
    const partBytes = 8 * 1024 * 1024;
    const chunkBytes = 1_000_000;
    const chunks = 100;
    let [read, stored, mostHeld] = [0, 0, 0];
    function* content() {
      for (; read < chunks * chunkBytes; read += chunkBytes) yield Buffer.alloc(chunkBytes);
    }
    respond = async (method, _url, bytes) => {
      if (method === 'POST') return { status: 200, body: uploadBegun };
      // Whoever reads on while the reply is missing has many turns for it.
      for (let turn = 0; turn < 1_000; turn += 1) await setImmediate();
      mostHeld = Math.max(mostHeld, read - stored);
      stored += bytes;
      return { status: 200, body: '', headers: { ETag: '"part"' } };
    };
    await store.put('key', Readable.from(content(), { objectMode: false }));
    expect(stored).toBe(chunks * chunkBytes);
    expect(mostHeld).toBeLessThanOrEqual(2 * partBytes);
  });

  it.each([
    { what: 'was stored after all, whose reply was lost,', bytes: 9_000_000, stored: true },
    { what: 'was aborted meanwhile', bytes: 1, stored: false },
  ])(
    'NoSuchUpload at the end of an upload that $what is resolved by the size of the object',
    async ({ bytes, stored }) => {
      respond = (method, url) => {
        if (method === 'HEAD') return { status: 200, body: '', headers: { 'Content-Length': String(bytes) } };
        if (method === 'PUT') return { status: 200, body: '', headers: { ETag: '"part"' } };
        if (method === 'POST' && url.includes('uploads')) return { status: 200, body: uploadBegun };
        return { status: 404, body: errorBody('NoSuchUpload') };
      };
      const put = store.put('key', Readable.from([Buffer.alloc(9_000_000)]));
      if (stored) await put;
      else await expect(put).rejects.toThrow(StoreUnavailableError);
      expect(requests.filter(({ method }) => method === 'PUT')).toHaveLength(2);
    },
  );
});
