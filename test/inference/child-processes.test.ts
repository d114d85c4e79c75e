import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { ServiceError } from '../../src/domain/service-error.ts';
import { createOnnxBackend, type OnnxBackend, type OnnxBackendOptions } from '../../src/inference/onnx-backend.ts';
import { until } from '../support/until.ts';
import { isRunning } from './processes.ts';
import {
  endpointsDirectory,
  modelsDirectory,
  noArtefacts,
  recordingLog,
  rejectionOf,
  tinyAdd,
  tinyRequest,
} from './tiny-endpoint.ts';

const picture = await sharp({ create: { width: 41, height: 7, channels: 3, background: '#888888' } })
  .png()
  .toBuffer();
const never = { signal: new AbortController().signal };

let open: OnnxBackend[] = [];

async function backend(changes: Partial<OnnxBackendOptions> = {}): Promise<OnnxBackend> {
  const created = await createOnnxBackend({
    modelsDirectory: fileURLToPath(modelsDirectory),
    store: { get: async () => picture },
    writeArtefact: noArtefacts,
    children: 1,
    threads: 1,
    logger: recordingLog().log,
    endpoints: [tinyAdd],
    endpointsDirectory,
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

test('a child that is killed in mid-job is a retryable error, and its successor does the next job', async () => {
  const onnx = await backend();
  const [pid] = onnx.pids;
  const running = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'hang' } }), never));
  process.kill(pid ?? 0, 'SIGKILL');
  expect(await running).toMatchObject({ code: 'model_inference_failed', retryable: true });
  expect((await onnx.infer(tinyRequest(), never)).status).toBe('succeeded');
  expect(onnx.pids).not.toContain(pid);
});

test('a poison picture costs its own job only', async () => {
  const onnx = await backend();
  const poisoned = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'crash' } }), never));
  const next = onnx.infer(tinyRequest(), never);
  expect(await poisoned).toBeInstanceOf(ServiceError);
  expect((await next).status).toBe('succeeded');
});

test.each(['hang', 'spin'])(
  'an aborted job that would %s rejects at once, and its child is replaced',
  async (behaviour) => {
    const onnx = await backend();
    const [pid] = onnx.pids;
    const controller = new AbortController();
    const running = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour } }), { signal: controller.signal }));
    const reason = new Error('canceled');
    setTimeout(() => controller.abort(reason), 20);
    expect(await running).toBe(reason);
    expect((await onnx.infer(tinyRequest(), never)).status).toBe('succeeded');
    expect(onnx.pids).not.toContain(pid);
  },
);

test('an aborted job that still waits leaves the queue', async () => {
  const onnx = await backend();
  const controller = new AbortController();
  const first = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'hang' } }), never));
  const waiting = rejectionOf(onnx.infer(tinyRequest(), { signal: controller.signal }));
  controller.abort();
  expect(await waiting).toMatchObject({ name: 'AbortError' });
  await onnx.close();
  expect(await first).toMatchObject({ code: 'model_inference_failed' });
});

test('close() rejects what runs and waits as retryable, and takes nothing more', async () => {
  const onnx = await backend();
  const running = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'spin' } }), never));
  const waiting = rejectionOf(onnx.infer(tinyRequest(), never));
  await until(() => onnx.pids.length === 1);
  await onnx.close();
  for (const error of [await running, await waiting, await rejectionOf(onnx.infer(tinyRequest(), never))]) {
    expect(error).toMatchObject({ code: 'model_inference_failed', retryable: true });
  }
});

test('children end by themselves when their parent is killed', async () => {
  const owner = spawn(process.execPath, [fileURLToPath(new URL('./pool-owner.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = (await once(owner.stdout, 'data')) as [Buffer];
  const pids = JSON.parse(output.toString()) as number[];
  expect(await Promise.all(pids.map(isRunning))).toEqual([true, true]);
  owner.kill('SIGKILL');
  for (const pid of pids) await until(async () => !(await isRunning(pid)));
});
