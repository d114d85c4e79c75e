/** The scenario `slow` of bundles: its time is spread over the stages, so that an observer sees progress. */
import { expect, test } from 'vitest';
import type { InferenceRequest, StageContext } from '../../../src/contracts/inference-backend.ts';
import type { StagePlan } from '../../../src/contracts/run-bundle.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import { createFixtureBackend } from '../../../src/inference/backends/fixture-backend.ts';
import { recordingLog, rejectionOf, standInArtefacts } from '../support/tiny-endpoint.ts';

const { bundles } = createFixtureBackend({
  logger: recordingLog().log,
  endpoints,
  endpointsDirectory: new URL('../../../src/endpoints/', import.meta.url),
  writeArtefact: standInArtefacts,
});
const request: InferenceRequest = {
  jobId: 'job_1111111111111111111111',
  endpoint: 'vehicle.analyze',
  livemode: false,
  parameters: { tasks: ['vehicle.identify', 'plate.read'] },
  inputs: ['a', 'b'].map((name) => ({
    field: 'images',
    storageKey: name,
    mediaType: 'image/jpeg',
    bytes: 1,
    sha256: '',
    uploadId: null,
  })),
  testScenario: 'slow',
  reservedCredits: 120,
};

async function plan(): Promise<StagePlan> {
  const made = await bundles.plan(request, { signal: new AbortController().signal });
  if (!made) throw new Error('no bundle');
  return made;
}

/** Runs a stage of a job that was picked up some seconds ago; `told` is the number of units that it reported as done. */
async function run(name: string, secondsAgo: number) {
  const stage = (await plan()).stages.find((each) => each.name === name);
  if (!stage) throw new Error(`no stage ${name}`);
  const stopping = new AbortController();
  const told: number[] = [];
  const context: StageContext = {
    signal: stopping.signal,
    startedAt: new Date(Date.now() - secondsAgo * 1_000),
    found: {},
    isLastAttempt: false,
    onProgress: (doneUnits) => {
      told.push(doneUnits);
      if (told.length === stopAfter) stopping.abort(STOPPED);
    },
  };
  return { outcome: bundles.runUnits(request, { stage, firstUnit: 0, units: 2 }, context), told, stopping };
}
const STOPPED = new Error('seen enough');
let stopAfter = Number.POSITIVE_INFINITY;

test('a bundle in test mode is planned at once, so that the job is seen to begin', async () => {
  expect((await plan()).stages.map(({ name }) => name)).toEqual(['vehicle.identify', 'plate.read']);
});

test('stages end one after another, as do their units', async () => {
  // Of 31 seconds, each of four units has 7.75.
  const first = await run('vehicle.identify', 16);
  expect((await first.outcome).units).toHaveLength(2);
  stopAfter = 1;
  const second = await run('plate.read', 24);
  expect(await rejectionOf(second.outcome)).toBe(STOPPED);
  expect(second.told).toEqual([1]);
  stopAfter = Number.POSITIVE_INFINITY;
});

test('another attempt does not wait again for time that has passed', async () => {
  const { outcome, told } = await run('plate.read', 32);
  expect((await outcome).units).toHaveLength(2);
  expect(told).toEqual([1, 2]);
});
