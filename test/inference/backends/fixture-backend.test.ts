import { expect, test } from '@jest/globals';
import { createFixtureBackend } from '../../../src/inference/backends/fixture-backend.ts';
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

test('returns the default fixture without a scenario, charged in full', async () => {
  const outcome = await fixture.infer(request(null), never);
  expect(outcome).toMatchObject({ status: 'succeeded', result: { sum: 101 }, chargedCredits: 5 });
  expect(fixture.modelVersion({ endpoint: 'tiny.add', livemode: false })).toMatch(/^fixture@\d{4}-\d{2}-\d{2}$/);
});

test('model_error fails the job without charge', async () => {
  const outcome = await fixture.infer(request('model_error'), never);
  expect(outcome).toMatchObject({ status: 'failed', result: null, chargedCredits: 0 });
  expect(outcome.error).toMatchObject({ type: 'processing_error', code: 'model_inference_failed' });
});

test('input_unreadable fails the job like an unreadable file, uncharged', async () => {
  const outcome = await fixture.infer(request('input_unreadable'), never);
  expect(outcome).toMatchObject({ status: 'failed', result: null, chargedCredits: 0 });
  expect(outcome.error).toMatchObject({ type: 'processing_error', code: 'input_unreadable' });
});

test('slow returns the default fixture after its time', async () => {
  const slow = createFixtureBackend({ ...options, slowScenarioMs: 60 });
  const startedAt = performance.now();
  expect(await slow.infer(request('slow'), never)).toMatchObject({ status: 'succeeded', result: { sum: 101 } });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(59);
});

test('slow takes about 30 s by itself, and stops at once when it is aborted', async () => {
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

test('never returns a fixture that violates the schema', async () => {
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
