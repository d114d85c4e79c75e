/** Observation times an inference by its outcome, and does not change its result. */
import { expect, it } from 'vitest';
import type { BundleInference, InferenceBackend } from '../../src/contracts/inference-backend.ts';
import type { InferenceOutcome } from '../../src/contracts/job.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { observeBackend } from '../../src/observability/observed-backend.ts';
import { NO_TRACING } from '../../src/observability/tracing.ts';
import { SUCCESS } from '../support/jobs.ts';

const REQUEST = {
  jobId: 'job_1',
  endpoint: 'dashboard.read',
  livemode: true,
  parameters: {},
  inputs: [],
  testScenario: null,
  reservedCredits: 20,
};
const FAILURE: InferenceOutcome = {
  status: 'failed',
  result: null,
  error: { type: 'processing_error', code: 'model_inference_failed', message: 'It failed.' },
  chargedCredits: 0,
};

function observed(answer: () => Promise<InferenceOutcome>, bundles?: BundleInference) {
  const metrics = createMetrics();
  const backend: InferenceBackend = {
    modelVersion: () => 'm@2026-01-01',
    infer: answer,
    close: async () => {},
    ...(bundles && { bundles }),
  };
  const counted = async () =>
    [
      ...(await metrics.registry.metrics()).matchAll(
        /^vehicle_inference_inference_duration_seconds_count\{.*outcome="(\w+)"\} (\d+)$/gm,
      ),
    ].map(([, outcome, count]) => [outcome, Number(count)]);
  return { backend: observeBackend(backend, metrics, NO_TRACING), counted };
}

it('a result passes unchanged and is counted by its status', async () => {
  const answers = [SUCCESS, FAILURE];
  const { backend, counted } = observed(async () => answers.shift() ?? SUCCESS);
  const context = { signal: new AbortController().signal };
  expect(await backend.infer(REQUEST, context)).toBe(SUCCESS);
  expect(await backend.infer(REQUEST, context)).toBe(FAILURE);
  expect(await counted()).toEqual([
    ['succeeded', 1],
    ['failed', 1],
  ]);
});

it('an error passes unchanged; after a cancellation it does not count as a failure', async () => {
  const error = new Error('lost');
  const { backend, counted } = observed(() => Promise.reject(error));
  const cancelled = AbortSignal.abort();
  await expect(backend.infer(REQUEST, { signal: new AbortController().signal })).rejects.toBe(error);
  await expect(backend.infer(REQUEST, { signal: cancelled })).rejects.toBe(error);
  expect(await counted()).toEqual([
    ['failed', 1],
    ['cancelled', 1],
  ]);
});

it('a backend without bundles stays without bundles', () => {
  expect(observed(async () => SUCCESS).backend.bundles).toBeUndefined();
});
