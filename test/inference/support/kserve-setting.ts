/** A KServe server for each test of a file, and the tiny model whose network runs on it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { OnnxBackend } from '../../../src/inference/backends/onnx-backend.ts';
import { parseManifest } from '../../../src/inference/models/manifest.ts';
import { createHttpClient, type HttpClientOptions } from '../../../src/inference/runtime/kserve/http-exchange.ts';
import { openKserveNetwork } from '../../../src/inference/runtime/kserve/kserve-network.ts';
import { type AskServer, createAskServer } from '../../../src/inference/runtime/kserve/kserve-servers.ts';
import type { Network } from '../../../src/inference/runtime/run-queue.ts';
import type { KserveServer } from '../../../src/platform/config/remote-servers.ts';
import { type KserveTestServer, startKserveServer } from '../../support/kserve-server.ts';
import { createTinyBackend, recordingLog } from './tiny-endpoint.ts';

export const never = { signal: new AbortController().signal };
export const secret = { Authorization: 'Bearer key of the server' };
export const FORTY_ONE = { x: { data: Float32Array.of(41), shape: [1] } };

export interface Setting {
  /** Changes of `files.tiny`. */
  file?: Record<string, unknown>;
  server?: Partial<KserveServer>;
  client?: HttpClientOptions;
}

/** The response of a server to an inference request, chosen by a test. */
export type Answer = NonNullable<KserveTestServer['onInfer']>;

/** The body of a response with the output `y`: a number, except for `fields`. */
export const outputY = (fields: object) =>
  JSON.stringify({ outputs: [{ name: 'y', datatype: 'FP32', shape: [1], ...fields }] });

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

/** Registers hooks: call it once, at the top of a test file. */
export function useKserveServer() {
  const { log, lines } = recordingLog();
  const directory = mkdtempSync(join(tmpdir(), 'kserve-'));
  let picture: Buffer;
  let server: KserveTestServer;
  let closing: (() => Promise<unknown>)[] = [];

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

  const closeLater = (close: () => Promise<unknown>) => closing.push(close);

  function ask({ server: changes = {}, client = {} }: Setting): AskServer {
    const http = createHttpClient(client);
    closeLater(() => http.close());
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
      // However long a busy machine takes to let a process abandon a job.
      graceMs: 60_000,
      askServer: ask(setting),
    });
    closeLater(() => backend.close());
    return backend;
  }

  return {
    lines,
    get server() {
      return server;
    },
    /** Replaces the server by another. */
    async restart(options: Parameters<typeof startKserveServer>[0]): Promise<void> {
      await server.close();
      server = await startKserveServer(options);
    },
    logged: () => JSON.stringify(lines),
    closeLater,
    ask,
    open,
    start,
  };
}
