/** A backend on a folder of models that a test changes while jobs run. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach } from 'vitest';
import type { OnnxBackend, OnnxBackendOptions } from '../../../src/inference/backends/onnx-backend.ts';
import { createTinyBackend, recordingLog, tinyAdd, tinyRequest } from './tiny-endpoint.ts';

export const never = { signal: new AbortController().signal };
export const OLD = 'tiny@2026-01-01';
export const NEW = 'tiny@2026-02-01';
export const tinyAddTwo = { ...tinyAdd, slug: 'tiny.add-two' };

const picture = await sharp({ create: { width: 41, height: 7, channels: 3, background: '#888888' } })
  .png()
  .toBuffer();

/** The version that runs a job, which may pin one. */
export const versionOn = (backend: OnnxBackend, pinnedModelVersion: string | null = null) =>
  backend.modelVersion({ endpoint: 'tiny.add', livemode: true, pinnedModelVersion });

export const refusalOn = (backend: OnnxBackend, pinned: string): unknown => {
  try {
    return versionOn(backend, pinned);
  } catch (error) {
    return error;
  }
};

export const statusOn = async (backend: OnnxBackend, modelVersion: string) =>
  (await backend.infer(tinyRequest({ modelVersion }), never)).status;

/** Reloads twice: the second reload takes up a release that has stopped changing. */
export const look = async (backend: OnnxBackend) => {
  await backend.reload();
  await backend.reload();
};

/** Registers hooks: call it once, at the top of a test file. */
export function useModelFolder() {
  const { log, lines } = recordingLog();
  let directory: string;
  let started: OnnxBackend | null = null;
  let nowMs = 0;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'model-host-'));
    lines.length = 0;
    nowMs = 0;
  });
  afterEach(async () => {
    await started?.close();
    started = null;
    await rm(directory, { recursive: true, force: true });
  });

  return {
    lines,
    /** The folder of models. */
    get directory() {
      return directory;
    },
    /** By the backend's clock. */
    get nowMs() {
      return nowMs;
    },
    passTime(ms: number): void {
      nowMs += ms;
    },
    reasons: () => lines.map(({ fields }) => String(fields.reason)),
    async start(changes: Partial<OnnxBackendOptions> = {}): Promise<OnnxBackend> {
      started = await createTinyBackend({
        modelsDirectory: directory,
        store: { get: async () => picture },
        logger: log,
        restartDelayMs: 1,
        graceMs: 200,
        clock: () => nowMs,
        ...changes,
      });
      return started;
    },
  };
}
