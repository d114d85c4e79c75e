import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterEach, expect, test } from 'vitest';
import type { OnnxBackend, OnnxBackendOptions } from '../../../src/inference/backends/onnx-backend.ts';
import { until } from '../../support/until.ts';
import { isComputing, isRunning, letGo } from '../support/processes.ts';
import { createTinyBackend, recordingLog, rejectionOf, tinyAdd, tinyRequest } from '../support/tiny-endpoint.ts';

const picture = await sharp({ create: { width: 41, height: 7, channels: 3, background: '#888888' } })
  .png()
  .toBuffer();
const never = { signal: new AbortController().signal };

let open: OnnxBackend[] = [];

async function backend(changes: Partial<OnnxBackendOptions> = {}): Promise<OnnxBackend> {
  const created = await createTinyBackend({
    store: { get: async () => picture },
    logger: recordingLog().log,
    restartDelayMs: 1,
    graceMs: 200,
    ...changes,
  });
  open.push(created);
  return created;
}

afterEach(async () => {
  const pids = open.flatMap(({ pids }) => pids);
  await Promise.all(open.map((each) => each.close()));
  open = [];
  // Every test of this file also proves that close() leaves no process.
  const running = await Promise.all(pids.map(isRunning));
  if (running.includes(true)) throw new Error(`close() left one of ${pids.join(', ')}`);
});

test('jobs beyond the number of children wait their turn', async () => {
  const onnx = await backend({ children: 2 });
  const outcomes = await Promise.all(Array.from({ length: 9 }, () => onnx.infer(tinyRequest(), never)));
  expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 'succeeded'));
});

test('killing a child fails its job as retryable, and its successor runs the next job', async () => {
  const onnx = await backend();
  const [pid] = onnx.pids;
  const running = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'hang' } }), never));
  process.kill(pid ?? 0, 'SIGKILL');
  expect(await running).toMatchObject({ code: 'model_inference_failed', retryable: true });
  expect((await onnx.infer(tinyRequest(), never)).status).toBe('succeeded');
  expect(onnx.pids).not.toContain(pid);
});

test('a picture with an endless computation fails alone, in time for the jobs behind it', async () => {
  const onnx = await backend({ endpoints: [{ ...tinyAdd, inferenceTimeoutMs: 8_000 }] });
  const endless = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'spin' } }), never));
  const others = await Promise.all(Array.from({ length: 3 }, () => onnx.infer(tinyRequest(), never)));
  expect(others.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(await endless).toMatchObject({
    code: 'inference_timeout',
    retryable: true,
    message: expect.stringMatching(/not finished after 6 seconds/) as unknown,
  });
});

test('successive pictures that end their process do not keep other jobs from its successor', async () => {
  const { log, lines } = recordingLog();
  const onnx = await backend({ logger: log, restartDelayMs: 5 });
  for (let crashes = 0; crashes < 4; crashes += 1) {
    await rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'crash' } }), never));
  }
  expect((await onnx.infer(tinyRequest(), never)).status).toBe('succeeded');
  const delaysMs = lines.filter(({ message }) => /is replaced/.test(message)).map(({ fields }) => fields.delayMs);
  expect(delaysMs).toEqual([5, 5, 5, 5]);
});

test('a job that no process takes in time is returned, and not run later', async () => {
  const onnx = await backend();
  const busy = [1, 2].map(() => onnx.infer(tinyRequest({ parameters: { behaviour: 'wait' } }), never));
  const late = onnx.infer(tinyRequest({ parameters: { behaviour: 'crash' } }), { ...never, waitMs: 50 });
  expect(await rejectionOf(late)).toMatchObject({ name: 'NoCapacityError' });
  const outcomes = await letGo(Promise.all(busy), () => onnx.pids);
  expect(outcomes.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  // One that finds a process is never called late, however long it takes.
  const slow = onnx.infer(tinyRequest({ parameters: { behaviour: 'wait' } }), { ...never, waitMs: 0 });
  expect((await letGo(slow, () => onnx.pids)).status).toBe('succeeded');
});

test("a poison picture fails only its own job: the process's other jobs are run again", async () => {
  const onnx = await backend();
  const beside = onnx.infer(tinyRequest({ parameters: { behaviour: 'wait' } }), never);
  const poisoned = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'crash' } }), never));
  const next = onnx.infer(tinyRequest(), never);
  expect(await poisoned).toMatchObject({ code: 'model_inference_failed', retryable: true });
  expect((await letGo(beside, () => onnx.pids)).status).toBe('succeeded');
  expect((await next).status).toBe('succeeded');
});

test('two poison pictures in one process fail alone and do not end a third job', async () => {
  const onnx = await backend();
  const poison = () => rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'crash' } }), never));
  const [first, second, outcome] = await Promise.all([poison(), poison(), onnx.infer(tinyRequest(), never)]);
  for (const error of [first, second]) expect(error).toMatchObject({ code: 'model_inference_failed' });
  expect(outcome.status).toBe('succeeded');
});

test('an aborted job rejects at once, and its child abandons it at the next run of a network', async () => {
  // However long a busy machine takes to let it abandon the job.
  const onnx = await backend({ graceMs: 60_000 });
  const { pids } = onnx;
  const controller = new AbortController();
  const endless = { parameters: { behaviour: 'run_forever' } };
  const running = rejectionOf(onnx.infer(tinyRequest(endless), { signal: controller.signal }));
  // Begun behind the other one, which runs by then.
  await onnx.infer(tinyRequest(), never);
  const reason = new Error('canceled');
  controller.abort(reason);
  expect(await running).toBe(reason);
  expect((await onnx.infer(tinyRequest(), never)).status).toBe('succeeded');
  expect(onnx.pids).toEqual(pids);
});

test('an aborted job that keeps its child busy costs the child but no other job', async () => {
  const onnx = await backend();
  const [pid] = onnx.pids;
  const controller = new AbortController();
  const hanging = { parameters: { behaviour: 'hang' } };
  const running = rejectionOf(onnx.infer(tinyRequest(hanging), { signal: controller.signal }));
  // Begun behind the other one, which hangs by then.
  await onnx.infer(tinyRequest(), never);
  const beside = onnx.infer(tinyRequest({ parameters: { behaviour: 'wait' } }), never);
  const reason = new Error('canceled');
  controller.abort(reason);
  expect(await running).toBe(reason);
  await until(() => !onnx.pids.includes(pid ?? 0), 60_000);
  expect((await letGo(beside, () => onnx.pids)).status).toBe('succeeded');
});

test('an aborted job that blocks its child rejects at once, and the job beside it succeeds', async () => {
  const onnx = await backend();
  const controller = new AbortController();
  const spinning = { parameters: { behaviour: 'spin' } };
  const running = rejectionOf(onnx.infer(tinyRequest(spinning), { signal: controller.signal }));
  const beside = onnx.infer(tinyRequest(), never);
  const reason = new Error('canceled');
  setTimeout(() => controller.abort(reason), 20);
  expect(await running).toBe(reason);
  expect((await beside).status).toBe('succeeded');
});

test('an aborted waiting job leaves the queue to those behind it', async () => {
  const onnx = await backend();
  const hang = () => rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'hang' } }), never));
  // As many as one child takes in hand.
  const inHand = [hang(), hang()];
  const controller = new AbortController();
  const waiting = rejectionOf(onnx.infer(tinyRequest(), { signal: controller.signal }));
  controller.abort();
  expect(await waiting).toMatchObject({ name: 'AbortError' });
  await onnx.close();
  for (const error of await Promise.all(inHand)) expect(error).toMatchObject({ code: 'model_inference_failed' });
});

test('close() rejects running and waiting jobs as retryable, and later calls too', async () => {
  const onnx = await backend();
  const running = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'spin' } }), never));
  const waiting = rejectionOf(onnx.infer(tinyRequest(), never));
  await until(() => onnx.pids.length === 1, 60_000);
  await onnx.close();
  for (const error of [await running, await waiting, await rejectionOf(onnx.infer(tinyRequest(), never))]) {
    expect(error).toMatchObject({ code: 'model_inference_failed', retryable: true });
  }
});

test.each(['idle', 'busy'])('%s children end when their parent is killed', async (what) => {
  const owner = spawn(process.execPath, [fileURLToPath(new URL('../support/pool-owner.ts', import.meta.url)), what], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = (await once(owner.stdout, 'data')) as [Buffer];
  const pids = JSON.parse(output.toString()) as number[];
  expect(await Promise.all(pids.map(isRunning))).toEqual([true, true]);
  if (what === 'busy') for (const pid of pids) await until(() => isComputing(pid), 60_000);
  owner.kill('SIGKILL');
  for (const pid of pids) await until(async () => !(await isRunning(pid)), 60_000);
});
