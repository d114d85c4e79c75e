/** The scenario `slow` of bundles: its time is spread over the stages, so that whoever watches sees them move. */
import { expect, test } from '@jest/globals';
import type { StagePlan } from '../../src/contracts/run-stages.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import type { InferenceRequest, StageContext } from '../../src/inference/backend.ts';
import { createFixtureBackend } from '../../src/inference/fixture-backend.ts';
import { recordingLog, rejectionOf, standInArtefacts } from './tiny-endpoint.ts';

const { staged } = createFixtureBackend({
  logger: recordingLog().log,
  endpoints,
  endpointsDirectory: new URL('../../src/endpoints/', import.meta.url),
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
  const made = await staged.plan(request, { signal: new AbortController().signal });
  if (!made) throw new Error('no bundle');
  return made;
}

/** Runs a stage of a job that was picked up some seconds ago; `told` is how many units it said were done. */
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
  return { outcome: staged.runUnits(request, { stage, firstUnit: 0, units: 2 }, context), told, stopping };
}
const STOPPED = new Error('seen enough');
let stopAfter = Number.POSITIVE_INFINITY;

test('the plan is there at once: the job is seen to begin', async () => {
  expect((await plan()).stages.map(({ name }) => name)).toEqual(['vehicle.identify', 'plate.read']);
});

test('the stages end one after another, and the units of each', async () => {
  // Of 31 seconds, each of four units has 7.75.
  const first = await run('vehicle.identify', 16);
  expect((await first.outcome).units).toHaveLength(2);
  stopAfter = 1;
  const second = await run('plate.read', 24);
  expect(await rejectionOf(second.outcome)).toBe(STOPPED);
  expect(second.told).toEqual([1]);
  stopAfter = Number.POSITIVE_INFINITY;
});

test('what its time is over for is not waited for again: another attempt makes up for one that was lost', async () => {
  const { outcome, told } = await run('plate.read', 32);
  expect((await outcome).units).toHaveLength(2);
  expect(told).toEqual([1, 2]);
});
