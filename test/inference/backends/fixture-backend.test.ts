import { Readable } from 'node:stream';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { JOB_SCENARIOS } from '../../../src/contracts/vocabulary/jobs.ts';
import { createFixtureBackend, SLOW_SCENARIO_MS } from '../../../src/inference/backends/fixture-backend.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../../src/platform/storage/object-store.ts';
import { readDocument } from '../../docs/snippets.ts';
import {
  endpointsDirectory,
  noArtefacts,
  recordingLog,
  rejectionOf,
  tinyAdd,
  tinyRequest,
} from '../support/tiny-endpoint.ts';

const never = { signal: new AbortController().signal };
const { log, lines } = recordingLog();
const options = { logger: log, endpoints: [tinyAdd], endpointsDirectory, writeArtefact: noArtefacts };
const fixture = createFixtureBackend(options);
const request = (testScenario: string | null) => tinyRequest({ livemode: false, testScenario });

test('a test job without a scenario gets the default fixture, charged in full', async () => {
  const outcome = await fixture.infer(request(null), never);
  expect(outcome).toMatchObject({ status: 'succeeded', result: { sum: 101 }, chargedCredits: 5 });
  expect(fixture.modelVersion({ endpoint: 'tiny.add', livemode: false })).toMatch(/^fixture@\d{4}-\d{2}-\d{2}$/);
});

test('the scenario model_error fails the job without charge', async () => {
  const outcome = await fixture.infer(request('model_error'), never);
  expect(outcome).toMatchObject({ status: 'failed', result: null, chargedCredits: 0 });
  expect(outcome.error).toMatchObject({ type: 'processing_error', code: 'model_inference_failed' });
});

test('the scenario input_unreadable fails the job like an unreadable file, uncharged', async () => {
  const outcome = await fixture.infer(request('input_unreadable'), never);
  expect(outcome).toMatchObject({ status: 'failed', result: null, chargedCredits: 0 });
  expect(outcome.error).toMatchObject({ type: 'processing_error', code: 'input_unreadable' });
});

test('a truncated file fails the job like an unreadable one, uncharged; a store that is down is retryable', async () => {
  const backendOn = (stream: ObjectStore['stream']) => createFixtureBackend({ ...options, inputFiles: { stream } });
  const whole = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#fff' } })
    .png()
    .toBuffer();
  const inferOn = (file: Buffer) => {
    const [input] = tinyRequest().inputs;
    const inputs = input ? [{ ...input, bytes: file.length }] : [];
    const stored = backendOn(async (_key, { start, end } = { start: 0, end: file.length - 1 }) =>
      Readable.from([file.subarray(start, end + 1)]),
    );
    return stored.infer({ ...request(null), inputs }, never);
  };
  expect(await inferOn(whole)).toMatchObject({ status: 'succeeded', chargedCredits: 5 });
  expect(await inferOn(whole.subarray(0, -1))).toMatchObject({
    status: 'failed',
    chargedCredits: 0,
    error: { code: 'input_unreadable', message: expect.stringContaining('truncated') },
  });
  const gone = backendOn(() => Promise.reject(new ObjectNotFoundError('picture.png')));
  expect(await gone.infer(request(null), never)).toMatchObject({ error: { code: 'input_unreadable' } });
  const down = backendOn(() => Promise.reject(new Error('the disk is away')));
  expect(await rejectionOf(down.infer(request(null), never))).toMatchObject({ retryable: true });
});

test('the scenario slow returns the default fixture after its time', async () => {
  const slow = createFixtureBackend({ ...options, slowScenarioMs: 100 });
  const startedAt = performance.now();
  expect(await slow.infer(request('slow'), never)).toMatchObject({ status: 'succeeded', result: { sum: 101 } });
  // Two clocks of whole milliseconds.
  expect(performance.now() - startedAt).toBeGreaterThan(90);
});

test('the scenario slow takes as long as the reference and the page of test mode say', () => {
  const seconds = SLOW_SCENARIO_MS / 1_000;
  expect(JOB_SCENARIOS.slow).toContain(`takes ${seconds} s,`);
  expect(readDocument('docs/test-mode.md')).toContain(`| \`slow\` | success after ${seconds} seconds,`);
});

test('the scenario slow takes its time by itself, and stops at once when it is aborted', async () => {
  const controller = new AbortController();
  const running = rejectionOf(fixture.infer(request('slow'), { signal: controller.signal }));
  const reason = new Error('canceled');
  controller.abort(reason);
  expect(await running).toBe(reason);
});

test('close() ends a slow job as retryable', async () => {
  const closing = createFixtureBackend(options);
  const running = rejectionOf(closing.infer(request('slow'), never));
  await closing.close();
  expect(await running).toMatchObject({ code: 'model_inference_failed', retryable: true });
});

test('a fixture that violates the schema is never returned', async () => {
  const outcome = await fixture.infer(request('broken'), never);
  expect(outcome).toMatchObject({ status: 'failed', result: null, chargedCredits: 0 });
  expect(lines.at(-1)?.fields).toMatchObject({
    scenario: 'broken',
    problem: "result must have required property 'environment'; result.sum must be number",
  });
});

test('a scenario without a fixture is an error of the service, not an invented result', async () => {
  expect(await rejectionOf(fixture.infer(request('absent'), never))).toMatchObject({ code: 'model_unavailable' });
});
