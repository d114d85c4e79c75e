/** The KServe v2 protocol as a server speaks it that others wrote: MLServer, with networks that compute what is known. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MLSERVER_PATH } from '../../../../scripts/install-mlserver.ts';
import { findFreePort } from '../../../../src/embedded/ports.ts';
import { ProcessRecord } from '../../../../src/embedded/process-record.ts';
import { type RunningProgram, startProgram, waitUntilReady } from '../../../../src/embedded/program.ts';
import type { OnnxBackend } from '../../../../src/inference/backends/onnx-backend.ts';
import { parseManifest } from '../../../../src/inference/models/manifest.ts';
import { createHttpClient, type HttpClient } from '../../../../src/inference/runtime/kserve/http-exchange.ts';
import { openKserveNetwork } from '../../../../src/inference/runtime/kserve/kserve-network.ts';
import { createAskServer } from '../../../../src/inference/runtime/kserve/kserve-servers.ts';
import { describeWith } from '../../../support/needs.ts';
import { createTinyBackend, recordingLog, rejectionOf, tinyRequest } from '../../support/tiny-endpoint.ts';

const never = new AbortController().signal;
const networksDirectory = fileURLToPath(new URL('./mlserver/', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'mlserver-'));
const record = new ProcessRecord(join(directory, 'processes.json'));
const http: HttpClient = createHttpClient();
const { log } = recordingLog();

let port: number;
let server: RunningProgram;

async function startMlServer(): Promise<RunningProgram> {
  const [grpcPort, metricsPort] = [await findFreePort(), await findFreePort()];
  const logPath = join(directory, 'mlserver.log');
  const program = await startProgram({
    name: 'MLServer',
    command: MLSERVER_PATH,
    args: ['start', networksDirectory],
    workingDirectory: directory,
    environment: {
      PATH: process.env.PATH,
      HOME: directory,
      PYTHONPATH: networksDirectory,
      PYTHONDONTWRITEBYTECODE: '1',
      MLSERVER_HOST: '127.0.0.1',
      MLSERVER_HTTP_PORT: String(port),
      MLSERVER_GRPC_PORT: String(grpcPort),
      MLSERVER_METRICS_PORT: String(metricsPort),
      // In its own process.
      MLSERVER_PARALLEL_WORKERS: '0',
    },
    logPath,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 20_000,
    record,
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/v2/models/mean/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitUntilReady(program, isReady, { timeoutMs: 240_000, logPath });
  return program;
}

const askServer = () =>
  createAskServer({
    servers: [{ name: 'mlserver', url: `http://127.0.0.1:${port}`, headers: {}, timeoutMs: 120_000 }],
    http,
    logger: log,
  });

function manifest(file: Record<string, unknown>): object {
  return {
    model: 'tiny',
    release: '2026-01-01',
    task: 'adding-one',
    description: 'y = x + 1, at MLServer.',
    license: 'Apache-2.0',
    files: { tiny: { inputs: { x: { shape: ['N'] } }, outputs: { y: { shape: ['N'] } }, ...file } },
    warmUp: { tiny: { x: [3] } },
  };
}

const open = (file: Record<string, unknown>) =>
  openKserveNetwork(
    { directory: '', manifest: parseManifest(JSON.stringify(manifest(file))), uses: {} },
    'tiny',
    (request, signal = never) => askServer()(request, signal),
  );

const ADDING = { kserve: { server: 'mlserver', model: 'tiny', version: '1' } };

describeWith('mlserver', 'MLServer', () => {
  beforeAll(async () => {
    port = await findFreePort();
    server = await startMlServer();
  }, 300_000);
  afterAll(async () => {
    await server.stop();
    await http.close();
    rmSync(directory, { recursive: true });
  });

  it('MLServer computes the expected tensors of a network', async () => {
    const adding = await open(ADDING);
    const values = Float32Array.from({ length: 1_000 }, (_, index) => Math.fround(index / 7));
    const { y } = await adding.run({ x: { data: values, shape: [1_000] } });
    expect(y).toEqual({ type: 'float32', dims: [1_000], data: values.map((value) => Math.fround(value + 1)) });

    const averaging = await open({
      kserve: { server: 'mlserver', model: 'mean' },
      inputs: { images: { shape: [1, 3, 2, 2] } },
      outputs: { means: { shape: [1, 3] } },
    });
    const pixels = Float32Array.of(0, 0, 1, 1, 0.25, 0.25, 0.25, 0.25, 1, 1, 1, 1);
    const { means } = await averaging.run({ images: { data: pixels, shape: [1, 3, 2, 2] } });
    expect(means).toEqual({ type: 'float32', dims: [1, 3], data: Float32Array.of(0.5, 0.25, 1) });
  });

  it.each([
    { what: 'a model it does not have', file: { kserve: { server: 'mlserver', model: 'none' } }, reason: /404/ },
    { what: 'a version it does not have', file: { kserve: { ...ADDING.kserve, version: '2' } }, reason: /404/ },
    {
      what: 'another output',
      file: { ...ADDING, outputs: { z: { shape: ['N'] } } },
      reason: /files\.tiny\.outputs\.z: the server has y/,
    },
    {
      what: 'another datatype',
      file: { ...ADDING, inputs: { x: { shape: ['N'], dtype: 'int64' } } },
      reason: /files\.tiny\.inputs\.x\.dtype: the server's is FP32/,
    },
  ])('MLServer is not used where model.json names $what', async ({ file, reason }) => {
    await expect(open(file)).rejects.toThrow(reason);
  });

  describe('under an endpoint', () => {
    let backend: OnnxBackend;

    beforeAll(async () => {
      const release = join(directory, 'models', 'tiny', '2026-01-01');
      mkdirSync(release, { recursive: true });
      writeFileSync(join(release, 'model.json'), JSON.stringify(manifest({ ...ADDING, batch: { max: 8 } })));
      const picture = await sharp({ create: { width: 41, height: 7, channels: 3, background: '#888888' } })
        .png()
        .toBuffer();
      backend = await createTinyBackend({
        modelsDirectory: join(directory, 'models'),
        store: { get: async () => picture },
        logger: log,
        askServer: askServer(),
      });
    });
    afterAll(() => backend.close());

    const infer = () => backend.infer(tinyRequest(), { signal: never });

    it('an endpoint whose network runs on MLServer serves jobs, also several at once', async () => {
      expect(backend.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: 'tiny@2026-01-01' }]);
      const outcomes = await Promise.all(Array.from({ length: 12 }, infer));
      expect(outcomes.map(({ result }) => (result as { sum: number }).sum)).toEqual(Array(12).fill(42));
    });

    it('jobs fail as retryable while MLServer is down, and succeed when it is back', async () => {
      server.signal('SIGKILL');
      await server.exited;
      expect(await rejectionOf(infer())).toMatchObject({ code: 'model_unavailable', retryable: true });
      server = await startMlServer();
      expect((await infer()).result).toMatchObject({ sum: 42 });
    }, 300_000);
  });
});
