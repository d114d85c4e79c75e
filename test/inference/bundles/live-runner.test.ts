/** Live bundles: each unit runs on an installed endpoint, and a unit that fails does not take the others along. */
import { describe, expect, test } from 'vitest';
import type { EndpointContract } from '../../../src/contracts/endpoint-contract.ts';
import type { InferenceBackend, InferenceRequest, StageContext } from '../../../src/contracts/inference-backend.ts';
import type { JobInput } from '../../../src/contracts/job.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import { createLiveRunner } from '../../../src/inference/bundles/live-runner.ts';
import { failed, succeeded } from '../../../src/inference/toolkit/outcomes.ts';
import { ServiceError } from '../../../src/platform/service-error.ts';
import { plannedStage } from '../../support/bundle-backends.ts';
import { recordingLog } from '../support/tiny-endpoint.ts';

const endpointsDirectory = new URL('../../../src/endpoints/', import.meta.url);
const contracts: readonly EndpointContract[] = endpoints;
const { log } = recordingLog();
const always = {
  endpoints: contracts,
  endpointsDirectory,
  check: () => null,
  logger: log,
  writeArtefact: () => Promise.reject(new Error('no file is made')),
  serves: () => true,
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
  const runner = createLiveRunner({ ...always, infer });
  const outcome = runner.runUnits(request, range, {
    signal: new AbortController().signal,
    found: {},
    isLastAttempt: false,
    onProgress: (done) => progress.push(done),
    ...changes,
  });
  return { outcome, progress };
}

test("a stage runs its endpoint on each picture alone, with the endpoint's defaults", async () => {
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

  test('a picture that fails permanently is a failed unit beside successful ones', async () => {
    expect((await run(failFirst(unreadable)).outcome).units).toEqual([
      { status: 'failed', error: unreadable.toJobError() },
      { status: 'succeeded', value: 'read' },
    ]);
  });

  test('a picture that fails temporarily is left to another attempt while there is one', async () => {
    await expect(run(failFirst(lost)).outcome).rejects.toBe(lost);
    expect((await run(failFirst(lost), { isLastAttempt: true }).outcome).units).toMatchObject([
      { status: 'failed', error: lost.toJobError() },
      { status: 'succeeded' },
    ]);
  });

  test('a picture that fails because of the service is reported in the terms of jobs', async () => {
    const { units } = await run(failFirst(away), { isLastAttempt: true }).outcome;
    expect(units[0]).toMatchObject({
      status: 'failed',
      error: { type: 'processing_error', code: 'model_inference_failed' },
    });
  });
});

test('a stage that requires an endpoint runs only on a worker that serves it', async () => {
  const infer = () => Promise.reject(new Error('not asked'));
  const stage = plannedStage({ name: 'intake', requires: 'video.onboard' });
  const context = { signal: new AbortController().signal, found: {}, isLastAttempt: true, onProgress: () => {} };
  const runOn = (serves: (endpoint: string) => boolean) =>
    createLiveRunner({ ...always, infer, serves }).runUnits(request, { stage, firstUnit: 0, units: 0 }, context);
  await expect(runOn((endpoint) => endpoint !== 'video.onboard')).rejects.toMatchObject({ code: 'model_unavailable' });
  expect(await runOn((endpoint) => endpoint === 'video.onboard')).toEqual({ units: [] });
});

test('an endpoint of one step has no plan', async () => {
  const runner = createLiveRunner({ ...always, infer: () => Promise.reject(new Error('not asked')) });
  const context = { signal: new AbortController().signal };
  expect(await runner.plan({ ...request, endpoint: 'dashboard.read' }, context)).toBeNull();
  const { stages } = (await runner.plan(request, context)) ?? { stages: [] };
  expect(stages.map(({ name, units, priceCredits }) => [name, units, priceCredits])).toEqual([
    ['vehicle.identify', 3, 120],
    ['plate.read', 3, 60],
  ]);
});

describe('the repair estimate of an inspection', () => {
  const seen = { value: 'minor', confidence: 0.7 };
  const damage = {
    id: 'damage_1',
    type: 'scratch',
    confidence: 0.9,
    severity: seen,
    size: null,
    is_new: null,
    views: [0],
  };
  const parts = [
    { part: 'hood', side: 'none', damages: [{ ...damage, repair_method: { value: 'polish', confidence: 0.8 } }] },
  ];
  const found = { merge: [{ status: 'succeeded' as const, value: { parts, overall: null, damageIds: [] } }] };
  const inspection = { ...request, endpoint: 'inspections', parameters: { country: 'GB', include_report: true } };
  const stage = plannedStage({ name: 'repair_estimate', units: 1, isOptional: true });
  const context = { signal: new AbortController().signal, found, isLastAttempt: true, onProgress: () => {} };
  const infer = () => Promise.reject(new Error('no network is asked'));
  const ofStage = (options: Partial<Parameters<typeof createLiveRunner>[0]>, asking: object = {}) => {
    const asked = { ...inspection, parameters: { ...inspection.parameters, ...asking } };
    return createLiveRunner({ ...always, infer, ...options }).runUnits(
      asked,
      { stage, firstUnit: 0, units: 1 },
      context,
    );
  };

  test('the repair estimate of an inspection comes from the price books, with the confidence of each damage', async () => {
    const asked: InferenceRequest[] = [];
    const { units } = await ofStage({
      inferByBooks: async (each) => {
        asked.push(each);
        return succeeded('an estimate', 0);
      },
    });
    expect(units).toEqual([{ status: 'succeeded', value: 'an estimate' }]);
    expect(asked).toMatchObject([
      {
        endpoint: 'pricing.repair',
        inputs: [],
        parameters: {
          country: 'GB',
          foundDamages: [
            { id: 'damage_1', type: 'scratch', part: 'hood', side: 'none', repairMethod: 'polish', confidence: 0.7 },
          ],
        },
      },
    ]);
    // The inspection has a report of its own.
    expect(asked[0]?.parameters).toMatchObject({ include_report: false });
  });

  test('the repair estimate is skipped where there is no price book, and fails if it was asked for', async () => {
    expect(await ofStage({})).toEqual({ units: [] });
    for (const asking of [{ include_repair_estimate: true }, { currency: 'GBP' }, { paint_rate: 5_000 }]) {
      const { units } = await ofStage({}, asking);
      expect(units).toMatchObject([{ status: 'failed', error: { code: 'model_unavailable' } }]);
    }
  });
});
