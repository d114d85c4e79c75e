/** Live bundles: each unit runs on an installed endpoint, and a unit that fails does not take the others along. */
import { describe, expect, test } from '@jest/globals';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import type { JobInput } from '../../src/contracts/job.ts';
import { ServiceError } from '../../src/domain/service-error.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import type { InferenceBackend, InferenceRequest, StageContext } from '../../src/inference/backend.ts';
import { createLiveStages, installedBundles } from '../../src/inference/live-stages.ts';
import { failed, succeeded } from '../../src/inference/outcomes.ts';
import { plannedStage } from '../support/staged-backends.ts';
import { recordingLog } from './tiny-endpoint.ts';

const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);
const contracts: readonly EndpointContract[] = endpoints;
const { log } = recordingLog();
const always = {
  endpoints: contracts,
  endpointsDirectory,
  check: () => null,
  logger: log,
  writeArtefact: () => Promise.reject(new Error('no file is made')),
  children: 1,
};
const input = (index: number): JobInput => ({
  field: 'images',
  storageKey: `picture-${index}.jpg`,
  mediaType: 'image/jpeg',
  bytes: 1,
  sha256: '',
  uploadId: null,
});
const request: InferenceRequest = {
  jobId: 'job_1111111111111111111111',
  endpoint: 'vehicle.analyze',
  livemode: true,
  parameters: { tasks: ['vehicle.identify', 'plate.read'] },
  inputs: [input(0), input(1), input(2)],
  testScenario: null,
  reservedCredits: 180,
};
const range = { stage: plannedStage({ name: 'vehicle.identify', units: 3 }), firstUnit: 1, units: 2 };

function run(infer: InferenceBackend['infer'], changes: Partial<StageContext> = {}) {
  const progress: number[] = [];
  const staged = createLiveStages({ ...always, infer });
  const outcome = staged.runUnits(request, range, {
    signal: new AbortController().signal,
    found: {},
    isLastAttempt: false,
    onProgress: (done) => progress.push(done),
    ...changes,
  });
  return { outcome, progress };
}

test('each picture is sent to the endpoint alone, with its own defaults', async () => {
  const asked: InferenceRequest[] = [];
  const { outcome, progress } = run(async (each) => {
    asked.push(each);
    return succeeded(each.inputs[0]?.storageKey, 0);
  });
  expect((await outcome).units).toEqual([
    { status: 'succeeded', value: 'picture-1.jpg' },
    { status: 'succeeded', value: 'picture-2.jpg' },
  ]);
  expect(asked[0]).toMatchObject({
    endpoint: 'vehicle.identify',
    parameters: { max_candidates: 5 },
    inputs: [input(1)],
  });
  expect(progress).toEqual([1, 2]);
});

describe('a picture that fails', () => {
  const unreadable = new ServiceError('input_unreadable', 'The picture is truncated.');
  const lost = new ServiceError('model_inference_failed', 'The process that ran the model ended.');
  const away = new ServiceError('service_unavailable', 'The file store cannot be reached.');
  const failFirst =
    (error: ServiceError): InferenceBackend['infer'] =>
    async (each) => {
      if (each.inputs[0]?.storageKey !== 'picture-1.jpg') return succeeded('read', 0);
      if (error.retryable) throw error;
      return failed(error);
    };

  test('for good is a failed unit beside those that succeed', async () => {
    expect((await run(failFirst(unreadable)).outcome).units).toEqual([
      { status: 'failed', error: unreadable.toJobError() },
      { status: 'succeeded', value: 'read' },
    ]);
  });

  test('in a way that may pass is left to another attempt while there is one', async () => {
    await expect(run(failFirst(lost)).outcome).rejects.toBe(lost);
    expect((await run(failFirst(lost), { isLastAttempt: true }).outcome).units).toMatchObject([
      { status: 'failed', error: lost.toJobError() },
      { status: 'succeeded' },
    ]);
  });

  test('of the service itself is told in the terms of jobs', async () => {
    const { units } = await run(failFirst(away), { isLastAttempt: true }).outcome;
    expect(units[0]).toMatchObject({
      status: 'failed',
      error: { type: 'processing_error', code: 'model_inference_failed' },
    });
  });
});

test('an endpoint of one step has no plan', async () => {
  const staged = createLiveStages({ ...always, infer: () => Promise.reject(new Error('not asked')) });
  const context = { signal: new AbortController().signal };
  expect(await staged.plan({ ...request, endpoint: 'dashboard.read' }, context)).toBeNull();
  const { stages } = (await staged.plan(request, context)) ?? { stages: [] };
  expect(stages.map(({ name, units, priceCredits }) => [name, units, priceCredits])).toEqual([
    ['vehicle.identify', 3, 120],
    ['plate.read', 3, 60],
  ]);
});

describe('a bundle is available in live mode', () => {
  const versions = new Map([
    ['vehicle.pose', 'pose@2026-11-21'],
    ['vehicle.identify', 'identify@2026-12-02'],
    ['plate.read', 'plate@2026-11-30'],
  ]);

  test('once every endpoint that it needs is installed, under the newest of their dates', async () => {
    expect(await installedBundles(contracts, endpointsDirectory, versions)).toEqual(new Map());
    const all = new Map([...versions, ['damage.detect', 'damage@2026-11-21']]);
    expect(await installedBundles(contracts, endpointsDirectory, all)).toEqual(
      new Map([['vehicle.analyze', 'vehicle-analyze@2026-12-02']]),
    );
  });
});

test('the prices of the stages of every bundle add up to its price', () => {
  const files = [{ mediaType: 'image/jpeg' }, { mediaType: 'image/png' }];
  const bundles = contracts.filter(({ stagePlan }) => stagePlan);
  expect(bundles.map(({ slug }) => slug)).toEqual(['vehicle.analyze', 'video.onboard', 'inspections']);
  for (const { stagePlan, price } of bundles) {
    for (const parameters of [{}, { tasks: ['vin.read'], run: ['plate.read'], frames_per_view: 2 }]) {
      const plan = stagePlan?.({ parameters, files }) ?? [];
      expect(plan.reduce((sum, { priceCredits }) => sum + priceCredits, 0)).toBe(price?.({ parameters, files }));
    }
  }
});
