/** The folder of models changes while jobs run: what is new answers, what is old finishes, what is broken changes nothing. */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, renameSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import type { OnnxBackend, OnnxBackendOptions } from '../../src/inference/onnx-backend.ts';
import { withLogFields } from '../../src/observability/log-context.ts';
import { recordLog } from '../support/log-record.ts';
import { until } from '../support/until.ts';
import { installMisbehaving, installTiny } from './installed-tiny.ts';
import { isRunning, letGo } from './processes.ts';
import { createTinyBackend, recordingLog, rejectionOf, tinyAdd, tinyRequest } from './tiny-endpoint.ts';

const picture = await sharp({ create: { width: 41, height: 7, channels: 3, background: '#888888' } })
  .png()
  .toBuffer();
const never = { signal: new AbortController().signal };
const OLD = 'tiny@2026-01-01';
const NEW = 'tiny@2026-02-01';
const THREADS_OF_FILE_SYSTEM = Number(process.env.UV_THREADPOOL_SIZE ?? 4);

let modelsDirectory: string;
let onnx: OnnxBackend | null = null;
let nowMs = 0;
const { log, lines } = recordingLog();

beforeEach(async () => {
  modelsDirectory = await mkdtemp(join(tmpdir(), 'model-host-'));
  lines.length = 0;
  nowMs = 0;
});
afterEach(async () => {
  await onnx?.close();
  onnx = null;
  await rm(modelsDirectory, { recursive: true });
});

async function start(changes: Partial<OnnxBackendOptions> = {}): Promise<OnnxBackend> {
  onnx = await createTinyBackend({
    modelsDirectory,
    store: { get: async () => picture },
    logger: log,
    restartDelayMs: 1,
    graceMs: 200,
    clock: () => nowMs,
    ...changes,
  });
  return onnx;
}

const version = (started: OnnxBackend, pinnedModelVersion: string | null = null) =>
  started.modelVersion({ endpoint: 'tiny.add', livemode: true, pinnedModelVersion });
const refusalOf = (started: OnnxBackend, pinned: string): unknown => {
  try {
    return version(started, pinned);
  } catch (error) {
    return error;
  }
};
const statusOn = async (started: OnnxBackend, modelVersion: string) =>
  (await started.infer(tinyRequest({ modelVersion }), never)).status;
/** Two looks: by the second, a release that has stopped changing is taken up. */
const look = async (started: OnnxBackend) => {
  await started.reload();
  await started.reload();
};
const reasons = () => lines.map(({ fields }) => String(fields.reason));

test('a new release answers without a restart, and a job on the old one comes to its end', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start();
  const [oldPid] = started.pids;
  const running = started.infer(tinyRequest({ parameters: { behaviour: 'wait' } }), never);

  await installTiny(modelsDirectory, '2026-02-01');
  await look(started);
  expect(version(started)).toBe(NEW);
  expect(started.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: NEW, otherVersions: [OLD] }]);
  expect(await statusOn(started, NEW)).toBe('succeeded');
  // Both are loaded for as long as the old one has work.
  expect(await isRunning(oldPid ?? 0)).toBe(true);

  expect((await letGo(running, () => [oldPid ?? 0])).status).toBe('succeeded');
  await until(async () => !(await isRunning(oldPid ?? 0)));
  expect(started.loaded).toEqual([NEW]);
});

test('a release that is still being copied is not taken up until it is whole', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start();
  const folder = await installTiny(modelsDirectory, '2026-02-01');
  const network = await readFile(join(folder, 'tiny.onnx'));
  for (const bytes of [network.subarray(0, 0), network.subarray(0, 50)]) {
    await writeFile(join(folder, 'tiny.onnx'), bytes);
    await look(started);
    expect(version(started)).toBe(OLD);
  }
  await writeFile(join(folder, 'tiny.onnx'), network);
  // It may be written still: one look tells nothing.
  await started.reload();
  expect(version(started)).toBe(OLD);
  await started.reload();
  expect(version(started)).toBe(NEW);
});

test('an operator who cannot wait has it taken up at once', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start();
  await installTiny(modelsDirectory, '2026-02-01');
  await started.reload({ now: true });
  expect(version(started)).toBe(NEW);
});

test('nothing is started or read again when nothing has changed', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start();
  const { pids } = started;
  await look(started);
  await started.reload({ now: true });
  expect(started.pids).toEqual(pids);
});

test('a release that does not run changes nothing, and is taken up when it is mended', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start();
  const { pids } = started;
  await installTiny(modelsDirectory, '2026-02-01', { warmUp: { tiny: { z: [3] } } });
  await look(started);
  await look(started);
  expect(version(started)).toBe(OLD);
  expect(started.pids).toEqual(pids);
  // Said once, not at every look.
  expect(reasons().filter((reason) => reason.includes('warmUp.tiny'))).toHaveLength(1);
  // Nobody can pin what does not run.
  expect(started.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: OLD }]);

  await installTiny(modelsDirectory, '2026-02-01');
  await look(started);
  expect(version(started)).toBe(NEW);
});

test('a named pipe in a new release stops no other release from being taken up', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start();
  const broken = join(await installTiny(modelsDirectory, '2026-02-01'), 'tiny.onnx');
  await rm(broken);
  await promisify(execFile)('mkfifo', [broken]);
  await look(started);
  expect(version(started)).toBe(OLD);
  expect(reasons()).toContain('files.tiny: tiny.onnx is not a file');
  await installTiny(modelsDirectory, '2026-03-01');
  await look(started);
  expect(version(started)).toBe('tiny@2026-03-01');
});

test('a worker stops although the file system of its models does not answer', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start();
  const pipe = join(modelsDirectory, '.pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  // Each holds a thread of those that ask the file system.
  const held = Promise.all(Array.from({ length: THREADS_OF_FILE_SYSTEM }, () => open(pipe)));
  let isAnswered = false;
  const answer = () => {
    if (!isAnswered) closeSync(openSync(pipe, constants.O_RDWR));
    isAnswered = true;
  };
  const reloading = started.reload();
  const late = setTimeout(answer, 10_000);
  await started.close();
  expect([started.pids, isAnswered]).toEqual([[], false]);
  clearTimeout(late);
  answer();
  await Promise.all((await held).map((reader) => reader.close()));
  await reloading;
});

describe('a release whose folder goes away while it is loaded', () => {
  let goAway: (() => void) | null;
  let comeBack: () => void;

  async function startAndLose(): Promise<OnnxBackend> {
    await installTiny(modelsDirectory, '2026-01-01');
    // The clock is read as a release begins to be loaded: it has been found whole by then.
    const clock = () => {
      goAway?.();
      goAway = null;
      return nowMs;
    };
    goAway = null;
    const started = await start({ clock });
    const folder = await installTiny(modelsDirectory, '2026-02-01');
    const aside = join(modelsDirectory, 'aside');
    await started.reload();
    goAway = () => renameSync(folder, aside);
    comeBack = () => renameSync(aside, folder);
    await started.reload();
    expect(version(started)).toBe(OLD);
    const said = lines.find(({ fields }) => /access|missing/i.test(String(fields.reason)));
    expect(said?.message).toBe('a release was removed while it was loaded');
    return started;
  }

  test('is taken up when the same folder comes back', async () => {
    const started = await startAndLose();
    await started.reload();
    comeBack();
    await look(started);
    expect(version(started)).toBe(NEW);
  });

  test('is tried again after a minute when it was back before anybody looked', async () => {
    const started = await startAndLose();
    comeBack();
    await look(started);
    expect(version(started)).toBe(OLD);
    nowMs += 61_000;
    await started.reload();
    expect(version(started)).toBe(NEW);
  });
});

test('what did not run is forgotten with its folder: when it comes back, a job may ask for it', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start();
  const folder = await installTiny(modelsDirectory, '2026-02-01', { warmUp: { tiny: { z: [3] } } });
  await look(started);
  expect(started.installedEndpoints()[0]?.otherVersions).toBeUndefined();
  const aside = join(modelsDirectory, 'aside');
  renameSync(folder, aside);
  await installTiny(modelsDirectory, '2026-03-01');
  await look(started);
  renameSync(aside, folder);
  await look(started);
  expect(started.installedEndpoints()[0]?.otherVersions).toEqual([NEW, OLD]);
});

test('what is logged of a process names no job that happened to start it', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  await installTiny(modelsDirectory, '2026-02-01');
  const record = recordLog();
  const started = await start({ logger: record.logger });
  const crash = tinyRequest({ modelVersion: OLD, parameters: { behaviour: 'crash' } });
  await withLogFields({ jobId: 'job_1' }, () => rejectionOf(started.infer(crash, never)));
  const ofOld = (text: string) => record.waitFor(({ msg, modelVersion }) => msg === text && modelVersion === OLD);
  expect(await ofOld('a release is loaded')).not.toHaveProperty('jobId');
  expect(await ofOld('an inference child process ended; it is replaced')).not.toHaveProperty('jobId');
  expect(await ofOld('an inference attempt failed')).toHaveProperty('jobId');
});

test('a worker that starts with a release that does not run answers with the one before', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  await installTiny(modelsDirectory, '2026-02-01', { warmUp: { tiny: { z: [3] } } });
  expect(version(await start())).toBe(OLD);
});

test('of two endpoints that ask for the same models each is answered by the newest that has what it needs', async () => {
  await installTiny(modelsDirectory, '2026-01-01', { thresholds: { picky: 7 } });
  await installTiny(modelsDirectory, '2026-02-01');
  const started = await start({ endpoints: [tinyAdd, { ...tinyAdd, slug: 'tiny.picky' }] });
  expect(started.installedEndpoints()).toEqual([
    { endpoint: 'tiny.add', modelVersion: NEW, otherVersions: [OLD] },
    { endpoint: 'tiny.picky', modelVersion: OLD },
  ]);
  expect(reasons()).toContain('thresholds.picky is missing from model.json');
  const { result } = await started.infer(tinyRequest({ endpoint: 'tiny.picky' }), never);
  expect(result).toEqual({ sum: 7, environment: [] });
});

test('when a release is removed the one before answers again; without one, none does', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  await installTiny(modelsDirectory, '2026-02-01');
  const started = await start();
  expect(version(started)).toBe(NEW);
  await rm(join(modelsDirectory, 'tiny', '2026-02-01'), { recursive: true });
  await started.reload();
  expect(version(started)).toBe(OLD);
  await rm(join(modelsDirectory, 'tiny'), { recursive: true });
  await started.reload();
  expect(started.installedEndpoints()).toEqual([]);
  expect(() => version(started)).toThrow('No model is installed');
  await until(() => started.pids.length === 0);
});

test('a folder of models that is away changes nothing', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start({ modelsDirectory: join(modelsDirectory, '.') });
  await rm(modelsDirectory, { recursive: true });
  expect(await rejectionOf(started.reload())).toMatchObject({ code: 'ENOENT' });
  expect(version(started)).toBe(OLD);
  expect(await statusOn(started, OLD)).toBe('succeeded');
  modelsDirectory = await mkdtemp(join(tmpdir(), 'model-host-'));
});

test('a job may pin any installed release: it is loaded when it is asked for, and not kept for long', async () => {
  for (const release of ['2025-12-01', '2026-01-01', '2026-02-01']) await installTiny(modelsDirectory, release);
  const started = await start();
  expect(started.loaded).toEqual([NEW]);
  expect(started.installedEndpoints()[0]?.otherVersions).toEqual([OLD, 'tiny@2025-12-01']);
  expect(version(started, 'tiny@2025-12-01')).toBe('tiny@2025-12-01');
  expect(await statusOn(started, 'tiny@2025-12-01')).toBe('succeeded');
  expect(started.loaded).toEqual([NEW, 'tiny@2025-12-01']);

  nowMs += 4 * 60_000;
  await started.reload();
  expect(started.loaded).toHaveLength(2);
  nowMs += 2 * 60_000;
  await started.reload();
  expect(started.loaded).toEqual([NEW]);
});

test('a job whose build has been removed is not answered by another', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  const started = await start();
  expect(version(started, 'tiny@2025-01-01')).toBe(OLD);
  const running = started.infer(tinyRequest({ modelVersion: 'tiny@2025-01-01' }), never);
  expect(await rejectionOf(running)).toMatchObject({ code: 'model_unavailable', retryable: true });
});

test('a pinned release that does not run fails its job, and is not offered for a while', async () => {
  await installTiny(modelsDirectory, '2026-01-01', { warmUp: { tiny: { z: [3] } } });
  await installTiny(modelsDirectory, '2026-02-01');
  const started = await start();
  expect(started.installedEndpoints()[0]?.otherVersions).toEqual([OLD]);
  const running = started.infer(tinyRequest({ modelVersion: OLD }), never);
  const message = `${OLD} cannot be run. Name another build in Model-Version, or none.`;
  // Another worker may run it.
  expect(await rejectionOf(running)).toMatchObject({ code: 'model_unavailable', message, retryable: true });
  expect(started.installedEndpoints()[0]?.otherVersions).toBeUndefined();
  expect(version(started)).toBe(NEW);
  // Before the job is picked up: none of its attempts would find anything else.
  expect(refusalOf(started, OLD)).toMatchObject({ code: 'model_unavailable', message, retryable: false });
});

test('a pinned release that may run the next time says so', async () => {
  const [folder] = [await installTiny(modelsDirectory, '2026-01-01'), await installTiny(modelsDirectory, '2026-02-01')];
  const started = await start();
  const aside = join(modelsDirectory, 'aside');
  renameSync(folder, aside);
  await rejectionOf(started.infer(tinyRequest({ modelVersion: OLD }), never));
  const message = `${OLD} cannot be run at the moment. Send the request again.`;
  expect(refusalOf(started, OLD)).toMatchObject({ code: 'model_unavailable', message, retryable: true });
  renameSync(aside, folder);
  nowMs += 61_000;
  expect(version(started, OLD)).toBe(OLD);
});

test('a pinned release without room beside the one that answers is refused before its job is picked up', async () => {
  await installTiny(modelsDirectory, '2026-01-01', { memoryMb: 70 });
  await installTiny(modelsDirectory, '2026-02-01', { memoryMb: 60 });
  const started = await start({ memoryMb: 100 });
  expect(refusalOf(started, OLD)).toMatchObject({ code: 'model_unavailable', retryable: false });
});

const tinyAddTwo = { ...tinyAdd, slug: 'tiny.add-two' };

test("a model's crash ends no process of another model", async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  await installTiny(modelsDirectory, '2026-01-01', { model: 'other', task: 'adding-one-too' });
  const started = await start({ endpoints: [tinyAdd, tinyAddTwo] });
  expect(started.loaded).toEqual([OLD, 'other@2026-01-01']);
  const [, other] = started.pids;
  const crashing = started.infer(tinyRequest({ parameters: { behaviour: 'crash' } }), never);
  const beside = started.infer(tinyRequest({ endpoint: 'tiny.add-two', parameters: { behaviour: 'wait' } }), never);
  expect(await rejectionOf(crashing)).toMatchObject({ code: 'model_inference_failed' });
  expect((await letGo(beside, () => started.pids)).status).toBe('succeeded');
  expect(started.pids).toContain(other);
});

test('models beyond the memory are refused with the reason, and the others work', async () => {
  await installTiny(modelsDirectory, '2026-01-01', { memoryMb: 60 });
  await installTiny(modelsDirectory, '2026-01-01', { model: 'other', task: 'adding-one-too', memoryMb: 60 });
  const started = await start({ endpoints: [tinyAdd, tinyAddTwo], memoryMb: 100 });
  expect(started.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: OLD }]);
  expect(reasons()).toContain(
    'it needs 60 MB in 1 processes, INFERENCE_MEMORY_MB is 100, and other models take all but 40 MB of it',
  );
  // Each process counts.
  await started.close();
  await start({ memoryMb: 100, children: 2 });
  expect(onnx?.installedEndpoints()).toEqual([]);
});

test('a model that does not say what it needs is refused where memory is bounded', async () => {
  await installTiny(modelsDirectory, '2026-01-01');
  expect((await start({ memoryMb: 1000 })).installedEndpoints()).toEqual([]);
  expect(reasons()[0]).toBe('memoryMb is missing from model.json of tiny@2026-01-01, and INFERENCE_MEMORY_MB is set');
});

test('where memory is short, a pinned release takes the place of another pinned one, never of one that answers', async () => {
  for (const release of ['2025-11-01', '2025-12-01', '2026-01-01']) {
    await installTiny(modelsDirectory, release, { memoryMb: 40 });
  }
  const started = await start({ memoryMb: 100 });
  expect(await statusOn(started, 'tiny@2025-12-01')).toBe('succeeded');
  expect(await statusOn(started, 'tiny@2025-11-01')).toBe('succeeded');
  expect(started.loaded).toEqual([OLD, 'tiny@2025-11-01']);
});

test('an older release that does not fit beside the one that answers is not offered, and the log says so once', async () => {
  await installTiny(modelsDirectory, '2026-01-01', { memoryMb: 70 });
  await installTiny(modelsDirectory, '2026-02-01', { memoryMb: 60 });
  const started = await start({ memoryMb: 100 });
  await look(started);
  expect(started.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: NEW }]);
  expect(reasons().filter((reason) => reason.startsWith('it needs'))).toEqual([
    'it needs 70 MB in 1 processes, INFERENCE_MEMORY_MB is 100, and other models take all but 40 MB of it',
  ]);
});

test('a new release that has no room beside the old one is refused, and the old one answers on', async () => {
  await installTiny(modelsDirectory, '2026-01-01', { memoryMb: 60 });
  const started = await start({ memoryMb: 100 });
  await installTiny(modelsDirectory, '2026-02-01', { memoryMb: 60 });
  await look(started);
  expect(version(started)).toBe(OLD);
  expect(reasons()).toContainEqual(expect.stringMatching(/^it needs 60 MB/));
});

describe('a release whose warm-up does not end', () => {
  const impatient = { patienceMs: 100, readyTimeoutMs: 6_000 };

  test('holds up neither a start nor other releases, and is ended after a time, with the reason', async () => {
    await installTiny(modelsDirectory, '2026-01-01');
    await installMisbehaving(modelsDirectory, '2026-02-01', 'endless');
    const started = await start({ ...impatient, endpoints: [tinyAdd, tinyAddTwo] });
    const serves = async (endpoints: number) => {
      await started.reload();
      return started.installedEndpoints().length === endpoints;
    };
    await until(() => serves(1));
    expect(version(started)).toBe(OLD);

    await installTiny(modelsDirectory, '2026-01-01', { model: 'other', task: 'adding-one-too' });
    await until(() => serves(2));
    expect(await statusOn(started, OLD)).toBe('succeeded');

    await until(async () => {
      await started.reload();
      return reasons().some((reason) => /^it was not ready after 6 seconds: .*warm-up/.test(reason));
    });
    // It is not begun again: its release has not changed.
    await started.reload();
    expect(started.pids).toHaveLength(2);
    expect(started.installedEndpoints()[0]?.otherVersions).toBeUndefined();
  });

  test('is ended when its folder goes', async () => {
    await installTiny(modelsDirectory, '2026-01-01');
    const folder = await installMisbehaving(modelsDirectory, '2026-02-01', 'endless');
    const started = await start({ ...impatient, readyTimeoutMs: 60_000 });
    await until(() => started.pids.length === 2);
    await rm(folder, { recursive: true });
    await until(async () => {
      await started.reload();
      return started.installedEndpoints().length === 1;
    });
    await until(() => started.pids.length === 1);
    expect(version(started)).toBe(OLD);
  });
});

test.each(['cuda', 'tensorrt'] as const)(
  'a worker that is told to use %s does not start where it does not work',
  async (provider) => {
    await installTiny(modelsDirectory, '2026-01-01');
    // No machine has as many: the test holds where there is a GPU, too.
    const error = await rejectionOf(start({ devices: [{ provider, id: 999 }] }));
    expect((error as Error).message).toMatch(
      new RegExp(`^Networks cannot run by ${provider} on device 999: .+INFERENCE_EXECUTION_PROVIDER`, 's'),
    );
  },
);
