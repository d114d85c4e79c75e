/** Inference backends that tests control. */

import type { InferenceBackend, InferenceRequest } from '../../src/contracts/inference-backend.ts';
import type { InferenceOutcome } from '../../src/contracts/job.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { createFixtureBackend } from '../../src/inference/backends/fixture-backend.ts';
import type { ObjectStore } from '../../src/platform/storage/object-store.ts';
import { SUCCESS } from './jobs.ts';

export interface RunningInference {
  request: InferenceRequest;
  signal: AbortSignal;
  finish(outcome?: InferenceOutcome): void;
  fail(error: unknown): void;
}

export interface SteeredBackend extends InferenceBackend {
  /** How many inferences have begun. */
  readonly calls: number;
  /** The next inference that the test has not taken yet. It runs until the test finishes it. */
  next(): Promise<RunningInference>;
}

export const MODEL_VERSION = 'model-of-tests@2026-01-01';

/** Every inference waits until the test finishes it. Further attempts of a finished one end in the same way. */
export function createSteeredBackend(): SteeredBackend {
  const begun: RunningInference[] = [];
  const awaited: ((inference: RunningInference) => void)[] = [];
  const finished = new Map<string, InferenceOutcome>();
  let calls = 0;
  return {
    get calls() {
      return calls;
    },
    next: () =>
      new Promise((resolve) => {
        const inference = begun.shift();
        if (inference) resolve(inference);
        else awaited.push(resolve);
      }),
    modelVersion: () => MODEL_VERSION,
    infer: (request, { signal }) => {
      calls += 1;
      const earlier = finished.get(request.jobId);
      if (earlier) return Promise.resolve(earlier);
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        const finish = (outcome = SUCCESS) => {
          finished.set(request.jobId, outcome);
          resolve(outcome);
        };
        const inference = { request, signal, finish, fail: reject };
        const taker = awaited.shift();
        if (taker) taker(inference);
        else begun.push(inference);
      });
    },
    close: async () => {},
  };
}

const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

/** The real fixtures, without the 31 s of the `slow` scenario. */
export function createQuickFixtureBackend(inputFiles?: Pick<ObjectStore, 'stream'>): InferenceBackend {
  return createFixtureBackend({
    logger: QUIET,
    endpoints,
    endpointsDirectory: new URL('../../src/endpoints/', import.meta.url),
    writeArtefact: () => Promise.reject(new Error('no fixture of these tests makes a file')),
    slowScenarioMs: 1,
    inputFiles,
  });
}
