/** Networks that run on a KServe v2 server: only tensors travel, and what a server does wrong is held against it alone. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import type { KserveServer } from '../../../src/config/remote-servers.ts';
import type { Network } from '../../../src/inference/executors/run-queue.ts';
import { parseManifest } from '../../../src/inference/models/manifest.ts';
import type { OnnxBackend } from '../../../src/inference/onnx-backend.ts';
import { createHttpClient, type HttpClientOptions } from '../../../src/inference/remote/http-exchange.ts';
import { openKserveNetwork } from '../../../src/inference/remote/kserve-network.ts';
import { type AskServer, createAskServer } from '../../../src/inference/remote/kserve-servers.ts';
import { type KserveTestServer, startKserveServer } from '../../support/kserve-server.ts';
import { until } from '../../support/until.ts';
import { createTinyBackend, recordingLog, rejectionOf, tinyRequest } from '../tiny-endpoint.ts';

const never = { signal: new AbortController().signal };
const { log, lines } = recordingLog();
const directory = mkdtempSync(join(tmpdir(), 'kserve-'));
const secret = { Authorization: 'Bearer key of the server' };

let picture: Buffer;
let server: KserveTestServer;
let closing: (() => Promise<unknown>)[] = [];

interface Setting {
  /** Changes of `files.tiny`. */
  file?: Record<string, unknown>;
  server?: Partial<KserveServer>;
  client?: HttpClientOptions;
}

function manifestWith(file: Record<string, unknown>): object {
  return {
    model: 'tiny',
    release: '2026-01-01',
    task: 'adding-one',
    description: 'y = x + 1, elsewhere.',
    license: 'Apache-2.0',
    files: {
      tiny: {
        kserve: { server: 'far', model: 'tiny' },
        inputs: { x: { shape: ['N'] } },
        outputs: { y: { shape: ['N'] } },
        ...file,
      },
    },
    warmUp: { tiny: { x: [3] } },
  };
}

function ask({ server: changes = {}, client = {} }: Setting): AskServer {
  const http = createHttpClient(client);
  closing.push(() => http.close());
  const servers = [{ name: 'far', url: server.url, headers: secret, timeoutMs: 20_000, ...changes }];
  return createAskServer({ servers, http, logger: log });
}

/** The network as a child process opens it, in this process. */
function open(setting: Setting = {}): Promise<Network> {
  const askServer = ask(setting);
  const manifest = parseManifest(JSON.stringify(manifestWith(setting.file ?? {})));
  return openKserveNetwork({ directory: '', manifest, uses: {} }, 'tiny', (request, signal = never.signal) =>
    askServer(request, signal),
  );
}

const FORTY_ONE = { x: { data: Float32Array.of(41), shape: [1] } };

/** A worker's backend, whose one model has its network on the server. */
async function start(setting: Setting = {}): Promise<OnnxBackend> {
  const modelsDirectory = mkdtempSync(join(directory, 'models-'));
  const release = join(modelsDirectory, 'tiny', '2026-01-01');
  mkdirSync(release, { recursive: true });
  writeFileSync(join(release, 'model.json'), JSON.stringify(manifestWith(setting.file ?? {})));
  const backend = await createTinyBackend({
    modelsDirectory,
    store: { get: async () => picture },
    logger: log,
    askServer: ask(setting),
  });
  closing.push(() => backend.close());
  return backend;
}

const logged = () => JSON.stringify(lines);

beforeAll(async () => {
  picture = await sharp({ create: { width: 41, height: 7, channels: 3, background: '#888888' } })
    .png()
    .toBuffer();
});
beforeEach(async () => {
  lines.length = 0;
  server = await startKserveServer();
});
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  closing = [];
  await server.close();
});
afterAll(() => rmSync(directory, { recursive: true }));

describe.each([
  { what: 'as JSON', binary: false, contentType: 'application/json' },
  { what: 'as bytes, where the server says that it takes them', binary: true, contentType: 'application/octet-stream' },
])('tensors travel $what', ({ binary, contentType }) => {
  it('and everything else is done here, by the key of the server, which no child process has', async () => {
    await server.close();
    server = await startKserveServer({ binary });
    const backend = await start({ file: { kserve: { server: 'far', model: 'tiny', version: '7' } } });
    expect(backend.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: 'tiny@2026-01-01' }]);
    const { status, result, chargedCredits } = await backend.infer(tinyRequest(), never);
    expect({ status, chargedCredits }).toEqual({ status: 'succeeded', chargedCredits: 5 });
    const { sum, environment } = result as { sum: number; environment: string[] };
    expect(sum).toBe(42);
    expect(environment.filter((name) => !['VIPSHOME', 'MALLOC_ARENA_MAX'].includes(name))).toEqual([]);
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v2/health/ready',
      'GET /v2/models/tiny/versions/7/ready',
      'GET /v2',
      'GET /v2/models/tiny/versions/7',
      'POST /v2/models/tiny/versions/7/infer',
      'POST /v2/models/tiny/versions/7/infer',
    ]);
    expect(server.requests.at(-1)?.headers).toMatchObject({
      authorization: secret.Authorization,
      'content-type': contentType,
    });
  });
});

describe('a model is not served', () => {
  const cases: { what: string; setting?: Setting; arrange?: () => void; reason: RegExp }[] = [
    {
      what: 'whose server is not ready',
      arrange: () => {
        server.isReady = false;
      },
      reason: /^files\.tiny\.kserve: far answers \/v2\/health\/ready with 503/,
    },
    {
      what: 'that the server does not have',
      setting: { file: { kserve: { server: 'far', model: 'other' } } },
      reason: /^files\.tiny\.kserve: far answers \/v2\/models\/other\/ready with 404: .*there is no such thing/,
    },
    {
      what: 'whose server KSERVE_SERVERS does not have',
      setting: { file: { kserve: { server: 'near', model: 'tiny' } } },
      reason: /^files\.tiny\.kserve: KSERVE_SERVERS has no server near; it has far/,
    },
    {
      what: 'whose server cannot be reached',
      setting: { server: { url: 'http://127.0.0.1:9' } },
      reason: /^files\.tiny\.kserve: http:\/\/127\.0\.0\.1:9: .*ECONNREFUSED/,
    },
    {
      what: 'whose inputs the server names otherwise',
      arrange: () => {
        server.metadata.inputs = [{ name: 'images', datatype: 'FP32', shape: [-1] }];
      },
      reason: /^files\.tiny\.inputs\.x: the server has images; files\.tiny\.inputs\.images is missing: the server asks/,
    },
    {
      what: 'whose input has another datatype there',
      arrange: () => {
        server.metadata.inputs = [{ name: 'x', datatype: 'FP16', shape: [-1] }];
      },
      reason: /^files\.tiny\.inputs\.x\.dtype: the server's is FP16/,
    },
    {
      what: 'whose output has another shape there',
      arrange: () => {
        server.metadata.outputs = [{ name: 'y', datatype: 'FP32', shape: [1, -1] }];
      },
      reason: /^files\.tiny\.outputs\.y\.shape is \[N\], the server's \[1, -1\]/,
    },
    {
      what: 'whose output has another datatype there than model.json states',
      setting: { file: { outputs: { y: { shape: ['N'], dtype: 'int64' } } } },
      reason: /^files\.tiny\.outputs\.y\.dtype: the server's is FP32/,
    },
    {
      what: 'whose name there leads elsewhere',
      setting: { file: { kserve: { server: 'far', model: '../../admin' } } },
      reason: /files\.tiny\.kserve\.model must match pattern/,
    },
  ];

  it.each(cases)('$what', async ({ setting, arrange, reason }) => {
    arrange?.();
    const refusal = (await rejectionOf((async () => open(setting))())) as Error;
    expect(refusal.message).toMatch(reason);
    expect(refusal.message + logged()).not.toContain(secret.Authorization);
  });

  it.each([
    { what: 'with a file as well', file: { path: 'tiny.onnx' } },
    { what: 'with neither a file nor a server', file: { kserve: undefined } },
  ])('$what', async ({ file }) => {
    expect((await start({ file })).installedEndpoints()).toEqual([]);
    expect(logged()).toMatch(/files\.tiny must have path and sha256, or kserve in their place/);
  });

  it('whose outputs are not those of model.json: a server that says nothing of them is found out by a run on zeros', async () => {
    server.metadata = {};
    server.onInfer = (response) => {
      const outputs = [{ name: 'z', datatype: 'FP32', shape: [1], data: [[1]] }];
      response.writeHead(200).end(JSON.stringify({ outputs }));
    };
    expect((await start()).installedEndpoints()).toEqual([]);
    expect(logged()).toMatch(/tiny\/tiny has no output y/);
  });
});

describe('while jobs run', () => {
  type Case = { what: string; answer: NonNullable<KserveTestServer['onInfer']> };

  it.each<Case & { setting?: Setting }>([
    { what: '503', answer: (response) => response.writeHead(503).end('overloaded') },
    { what: '429', answer: (response) => response.writeHead(429).end() },
    { what: 'no answer at all', answer: (response) => response.destroy() },
    { what: 'no answer in time', answer: () => {}, setting: { server: { timeoutMs: 1_000 } } },
    {
      what: 'an answer that breaks off',
      answer: (response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"outputs":', () => response.destroy());
      },
    },
  ])('$what may pass: the next attempt has an answer', async ({ answer, setting }) => {
    const network = await open(setting);
    server.onInfer = answer;
    const error = await rejectionOf(network.run(FORTY_ONE));
    expect(error).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect((error as Error).message).not.toMatch(/127\.0\.0\.1|overloaded/);
    server.onInfer = null;
    expect(await network.run(FORTY_ONE)).toEqual({ y: { type: 'float32', data: Float32Array.of(42), dims: [1] } });
  });

  const y = (fields: object) => JSON.stringify({ outputs: [{ name: 'y', datatype: 'FP32', shape: [1], ...fields }] });
  it.each<Case & { reason: RegExp }>([
    {
      what: '400',
      answer: (response) => response.writeHead(400).end('{"error":"x is odd"}'),
      reason: /far answers 400: .*x is odd/,
    },
    {
      what: '500',
      answer: (response) => response.writeHead(500).end('{"error":"x is odd"}'),
      reason: /far answers 500: .*x is odd/,
    },
    {
      what: 'a redirect, which is not followed,',
      answer: (response) => response.writeHead(307, { location: '/v2/models/tiny/infer' }).end(),
      reason: /far answers 307/,
    },
    {
      what: 'something that is not JSON',
      answer: (response) => response.writeHead(200).end('<html>'),
      reason: /is not a JSON object/,
    },
    {
      what: 'no outputs',
      answer: (response) => response.writeHead(200).end('{"outputs":{}}'),
      reason: /has no outputs/,
    },
    {
      what: 'an output that is nothing',
      answer: (response) => response.writeHead(200).end('{"outputs":[null]}'),
      reason: /has an output that is no object/,
    },
    {
      what: 'fewer values than the shape says',
      answer: (response) => response.writeHead(200).end(y({ shape: [2], data: [1] })),
      reason: /has 1 values for the shape \[2\]/,
    },
    {
      what: 'a shape that is none',
      answer: (response) => response.writeHead(200).end(y({ shape: [-1], data: [1] })),
      reason: /has the shape \[-1\]/,
    },
    {
      what: 'values that are no numbers',
      answer: (response) => response.writeHead(200).end(y({ data: ['1'] })),
      reason: /holds something that is no number/,
    },
    {
      what: 'a datatype that no pipeline reads',
      answer: (response) => response.writeHead(200).end(y({ datatype: 'BYTES', data: ['1'] })),
      reason: /is BYTES, not one of FP32, FP16, INT64, INT32/,
    },
    {
      what: 'a length of its JSON beyond the answer',
      answer: (response) => response.writeHead(200, { 'inference-header-content-length': '99' }).end('{}'),
      reason: /is 99, its answer has 2 bytes/,
    },
    {
      what: 'fewer bytes than it states, though as many as the shape asks for,',
      answer: (response) => {
        const json = y({ parameters: { binary_data_size: 1_000_000_000 } });
        response.writeHead(200, { 'inference-header-content-length': String(json.length) }).end(`${json}abcd`);
      },
      reason: /states 1000000000 bytes, 999999996 more than came/,
    },
    {
      what: 'a size that is none',
      answer: (response) => {
        const json = y({ parameters: { binary_data_size: -4 } });
        response.writeHead(200, { 'inference-header-content-length': String(json.length) }).end(`${json}abcd`);
      },
      reason: /has the binary_data_size -4/,
    },
    {
      what: 'bytes that belong to no output',
      answer: (response) => {
        const json = y({ parameters: { binary_data_size: 4 } });
        response.writeHead(200, { 'inference-header-content-length': String(json.length) }).end(`${json}abcdefgh`);
      },
      reason: /4 bytes that belong to no output/,
    },
    {
      what: 'fewer bytes than announced',
      answer: (response) => {
        const json = y({ parameters: { binary_data_size: 4 } });
        response.writeHead(200, { 'inference-header-content-length': String(json.length) }).end(`${json}abc`);
      },
      reason: /has 3 bytes, no whole number of float32/,
    },
  ])("$what is the model's own failure", async ({ answer, reason }) => {
    const network = await open();
    server.onInfer = answer;
    const error = (await rejectionOf(network.run(FORTY_ONE))) as Error;
    expect(error.name).toBe('Error');
    expect(error.message).toMatch(reason);
  });

  describe('an answer is held to model.json, whatever the server said of its model before', () => {
    const kserve = { server: 'far', model: 'tiny', version: '7' };
    const versioned = (version: object) =>
      JSON.stringify({ ...version, outputs: [{ name: 'y', datatype: 'FP32', shape: [1], data: [42] }] });

    it.each([
      {
        what: 'another length of a dimension',
        file: { outputs: { y: { shape: ['N', 2] } } },
        body: y({ shape: [1, 3], data: [1, 2, 3] }),
        reason: /^output y of the server has the shape \[1, 3\], model\.json says \[N, 2\]$/,
      },
      {
        what: 'the same values in another shape',
        file: { outputs: { y: { shape: [2, 3] } } },
        body: y({ shape: [3, 2], data: [1, 2, 3, 4, 5, 6] }),
        reason: /has the shape \[3, 2\], model\.json says \[2, 3\]/,
      },
      {
        what: 'a dimension more',
        file: {},
        body: y({ shape: [1, 1], data: [1] }),
        reason: /has the shape \[1, 1\], model\.json says \[N\]/,
      },
      {
        what: 'another datatype',
        file: { outputs: { y: { shape: ['N'], dtype: 'float32' } } },
        body: y({ datatype: 'INT64', data: [1] }),
        reason: /is INT64, model\.json says float32/,
      },
      {
        what: 'another version than the pinned one',
        file: { kserve },
        body: versioned({ model_version: '8' }),
        reason: /^the server answers with version 8 of the model, not 7$/,
      },
    ])('$what is its own failure', async ({ file, body, reason }) => {
      server.metadata = {};
      const network = await open({ file });
      server.onInfer = (response) => response.writeHead(200).end(body);
      const error = (await rejectionOf(network.run(FORTY_ONE))) as Error;
      expect(error.name).toBe('Error');
      expect(error.message).toMatch(reason);
    });

    it.each([
      { what: 'a dimension that has a name may have any length', file: {}, body: y({ shape: [3], data: [1, 2, 3] }) },
      { what: 'the pinned version is good', file: { kserve }, body: versioned({ model_version: '7' }) },
      { what: 'no version is good, as the protocol allows it', file: { kserve }, body: versioned({}) },
      { what: 'any version is good where none is pinned', file: {}, body: versioned({ model_version: '8' }) },
    ])('$what', async ({ file, body }) => {
      const network = await open({ file });
      server.onInfer = (response) => response.writeHead(200).end(body);
      expect((await network.run(FORTY_ONE)).y).toMatchObject({ type: 'float32' });
    });

    it('and the job fails as the model failed, once the server has another model than when it was opened', async () => {
      const backend = await start();
      server.onInfer = (response) => response.writeHead(200).end(y({ shape: [1, 1], data: [42] }));
      const error = await rejectionOf(backend.infer(tinyRequest(), never));
      expect(error).toMatchObject({ code: 'model_inference_failed', message: 'The model failed on this input.' });
      server.onInfer = null;
      expect((await backend.infer(tinyRequest(), never)).result).toMatchObject({ sum: 42 });
    });
  });

  it('integers are read as what they are', async () => {
    const network = await open();
    const answers = [
      { datatype: 'INT64', data: [[7]], read: BigInt64Array.of(7n) },
      { datatype: 'INT32', data: [7], read: Int32Array.of(7) },
    ];
    for (const { read, ...fields } of answers) {
      server.onInfer = (response) => response.writeHead(200).end(y(fields));
      expect((await network.run(FORTY_ONE)).y?.data).toEqual(read);
    }
  });

  it('a failure of the model is told to the customer without its reason, which is logged', async () => {
    const backend = await start();
    server.onInfer = (response) => response.writeHead(400).end('{"error":"a secret of the server"}');
    const error = await rejectionOf(backend.infer(tinyRequest(), never));
    expect(error).toMatchObject({ code: 'model_inference_failed', message: 'The model failed on this input.' });
    expect(lines.at(-1)?.fields).toMatchObject({
      err: { cause: { message: expect.stringContaining('far answers 400: {"error":"a secret of the server"}') } },
    });
  });

  it('a job that nobody waits for any more is given up at the server, too', async () => {
    const backend = await start();
    server.onInfer = () => {};
    const controller = new AbortController();
    const outcome = rejectionOf(backend.infer(tinyRequest(), { signal: controller.signal }));
    await until(() => server.requests.filter(({ method }) => method === 'POST').length === 2);
    controller.abort();
    expect(await outcome).toMatchObject({ name: 'AbortError' });
    await until(() => server.abandoned === 1);
    const { pids } = backend;
    server.onInfer = null;
    expect((await backend.infer(tinyRequest(), never)).result).toMatchObject({ sum: 42 });
    expect(backend.pids).toEqual(pids);
  });
});

it('whatever a child process asks for, it gets nothing of a server but the protocol, and no other header through', async () => {
  const askServer = ask({});
  for (const path of [
    '/metrics',
    '/v2/repository/index',
    '/v2/models/../../metrics',
    '/v2/models/tiny/infer?x=1',
    '//evil/v2',
  ]) {
    for (const body of [undefined, { headers: {}, content: new Uint8Array() }]) {
      const answer = await askServer({ server: 'far', path, ...(body && { body }) }, never.signal);
      expect(answer).toEqual({
        problem: expect.stringContaining('is not a path of the KServe v2 protocol'),
        mayPass: false,
      });
    }
  }
  expect(server.requests).toEqual([]);
  const body = {
    headers: { authorization: 'other', 'x-more': '1', 'content-type': 'text/plain' },
    content: Buffer.from('{"inputs":[]}'),
  };
  await askServer({ server: 'far', path: '/v2/models/tiny/infer', body }, never.signal);
  const headers = server.requests[0]?.headers;
  expect(headers).toMatchObject({ authorization: secret.Authorization, 'content-type': 'text/plain' });
  expect(headers).not.toHaveProperty('x-more');
});

it('a connection that the server closed as it was used again costs no attempt', async () => {
  const network = await open();
  let calls = 0;
  server.onInfer = (response, respond) => {
    calls += 1;
    if (calls === 1) response.destroy();
    else respond();
  };
  expect((await network.run(FORTY_ONE)).y?.data).toEqual(Float32Array.of(42));
  expect(calls).toBe(2);
});

it('an answer is read up to its bound', async () => {
  server.onInfer = (response) => response.writeHead(200).end('x'.repeat(2_000));
  const http = createHttpClient();
  closing.push(() => http.close());
  const exchange = {
    method: 'POST',
    url: `${server.url}/v2/models/tiny/infer`,
    body: '{}',
    timeoutMs: 20_000,
  } as const;
  expect((await http.exchange({ ...exchange, maximumBytes: 2_000 })).body).toHaveLength(2_000);
  await expect(http.exchange({ ...exchange, maximumBytes: 1_999 })).rejects.toThrow('more than 1999 bytes');
});

it('over TLS a server must show a certificate that is trusted', async () => {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(directory, name));
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', String(key), '-out', String(cert)];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
    stdio: 'ignore',
  });
  const tls = { key: readFileSync(String(key), 'utf8'), cert: readFileSync(String(cert), 'utf8') };
  await server.close();
  server = await startKserveServer({ tls });
  await expect(open()).rejects.toThrow(/^files\.tiny\.kserve: https:\/\/127\.0\.0\.1:\d+: .*certificate/);
  const network = await open({ client: { certificateAuthorities: tls.cert } });
  expect((await network.run(FORTY_ONE)).y?.data).toEqual(Float32Array.of(42));
});
