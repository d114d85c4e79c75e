/** The endpoint `tiny.add` under `endpoints/`, with its model under `models/`: for tests of executors and backends. */

import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import type { WriteArtefact } from '../../../src/artefacts/artefact-writer.ts';
import type { EndpointContract } from '../../../src/contracts/endpoint-contract.ts';
import type { InferenceRequest } from '../../../src/contracts/inference-backend.ts';
import { dashboardRead } from '../../../src/endpoints/dashboard.read/contract.ts';
import {
  createOnnxBackend,
  type OnnxBackend,
  type OnnxBackendOptions,
} from '../../../src/inference/backends/onnx-backend.ts';
import type { Log } from '../../../src/platform/logging/log.ts';

export const endpointsDirectory = new URL('../endpoints/', import.meta.url);
export const modelsDirectory = new URL('../models/', import.meta.url);

export const tinyAdd: EndpointContract = {
  ...dashboardRead,
  slug: 'tiny.add',
  // A time-out means a hang, however busy the machine is.
  inferenceTimeoutMs: 600_000,
  parameters: Type.Object({}),
  result: Type.Object({ sum: Type.Number(), environment: Type.Array(Type.String()) }, { additionalProperties: false }),
  scenarios: {},
};

export function tinyRequest(changes: Partial<InferenceRequest> = {}): InferenceRequest {
  return {
    jobId: 'job_1111111111111111111111',
    endpoint: 'tiny.add',
    livemode: true,
    parameters: {},
    inputs: [
      { field: 'image', storageKey: 'picture.png', mediaType: 'image/png', bytes: 1, sha256: '', uploadId: null },
    ],
    testScenario: null,
    reservedCredits: 5,
    ...changes,
  };
}

export interface LoggedLine {
  fields: Record<string, unknown>;
  message: string;
}

/** A logger that keeps its lines. */
export function recordingLog(): { log: Log; lines: LoggedLine[] } {
  const lines: LoggedLine[] = [];
  const record = (fields: unknown, message?: string) => {
    lines.push({ fields: fields as Record<string, unknown>, message: message ?? '' });
  };
  return { log: { info: record, warn: record, error: record }, lines };
}

/** The promise's rejection; fails the test when it resolves. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('the promise was expected to reject');
}

/** The live backend of `tiny.add`, on one child process; what only some tests need is theirs to say. */
export function createTinyBackend(
  options: Partial<OnnxBackendOptions> & Pick<OnnxBackendOptions, 'store' | 'logger'>,
): Promise<OnnxBackend> {
  return createOnnxBackend({
    modelsDirectory: fileURLToPath(modelsDirectory),
    writeArtefact: noArtefacts,
    children: 1,
    threads: 1,
    endpoints: [tinyAdd],
    endpointsDirectory,
    ...options,
  });
}

/** For endpoints whose results show no files. */
export const noArtefacts: WriteArtefact = () => Promise.reject(new Error('no artefact is expected'));

/** Stores nothing, and returns as if it had. */
export const standInArtefacts: WriteArtefact = async ({ content, mediaType, extension, width, height }) => ({
  id: 'art_1111111111111111111111',
  object: 'artefact',
  media_type: mediaType,
  bytes: content.byteLength,
  width,
  height,
  url: `https://artefacts.example/art_1111111111111111111111.${extension}`,
  expires_at: 1_800_000_000,
});
