/** The models that come with the project, in a child process of their own, as `npm start` runs them. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { EndpointContract } from '../../../src/contracts/endpoint-contract.ts';
import { createOnnxBackend, type OnnxBackend } from '../../../src/inference/backends/onnx-backend.ts';
import { PROJECT_DIRECTORY } from '../../support/processes.ts';
import { noArtefacts, recordingLog, tinyRequest } from './tiny-endpoint.ts';

/** On a machine that is busy with other tests. */
const LOADED_WITHIN_MS = 280_000;
/** For the test that starts them. */
export const STARTED_WITHIN_MS = 300_000;

export interface ShippedModels {
  backend: OnnxBackend;
  /** Result of an endpoint for a picture. Fails the test if there is none. */
  ask: (endpoint: string, file: string, parameters?: Record<string, unknown>) => Promise<unknown>;
  /** Fails the test unless this one model serves all endpoints, without a complaint, from one set of processes. */
  expectOneSetOfProcesses: (modelVersion: string) => void;
}

/** @param pictures folder of the project that the names of files start from, with a slash at its end */
export async function startShippedModels(
  endpoints: readonly EndpointContract[],
  pictures: string,
): Promise<ShippedModels> {
  const { log, lines } = recordingLog();
  const backend = await createOnnxBackend({
    modelsDirectory: `${PROJECT_DIRECTORY}models`,
    store: { get: async (name) => readFileSync(`${PROJECT_DIRECTORY}${pictures}${name}`) },
    writeArtefact: noArtefacts,
    children: 1,
    threads: 1,
    logger: log,
    patienceMs: LOADED_WITHIN_MS,
    endpoints,
    endpointsDirectory: new URL('../../../src/endpoints/', import.meta.url),
  });
  return {
    backend,
    ask: async (endpoint, file, parameters = {}) => {
      const input = { field: 'image', storageKey: file, mediaType: 'image/jpeg', bytes: 1, sha256: '', uploadId: null };
      const request = tinyRequest({ endpoint, parameters, inputs: [input] });
      const outcome = await backend.infer(request, { signal: new AbortController().signal });
      expect(outcome.error).toBeNull();
      return outcome.result;
    },
    expectOneSetOfProcesses: (modelVersion) => {
      const served = backend.installedEndpoints();
      expect(served).toEqual(
        endpoints.map(({ slug }) => expect.objectContaining({ endpoint: slug, modelVersion }) as unknown),
      );
      expect(backend.loaded).toEqual([modelVersion]);
      expect(backend.pids).toHaveLength(1);
      expect(lines.filter(({ fields }) => 'reason' in fields)).toEqual([]);
    },
  };
}
