/** Faults of the file system and of warm-ups hold up neither other releases nor the worker. */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, renameSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { OnnxBackend } from '../../../src/inference/backends/onnx-backend.ts';
import { until } from '../../support/until.ts';
import { installMisbehaving, installTiny } from '../support/installed-tiny.ts';
import { look, NEW, OLD, statusOn, tinyAddTwo, useModelFolder, versionOn } from '../support/model-folder.ts';
import { rejectionOf, tinyAdd } from '../support/tiny-endpoint.ts';

const THREADS_OF_FILE_SYSTEM = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
const models = useModelFolder();

test('a named pipe in a new release does not block other releases', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start();
  const broken = join(await installTiny(models.directory, '2026-02-01'), 'tiny.onnx');
  await rm(broken);
  await promisify(execFile)('mkfifo', [broken]);
  await look(started);
  expect(versionOn(started)).toBe(OLD);
  expect(models.reasons()).toContain('files.tiny: tiny.onnx is not a file');
  await installTiny(models.directory, '2026-03-01');
  await look(started);
  expect(versionOn(started)).toBe('tiny@2026-03-01');
});

test('a worker stops even if the file system of its models hangs', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start();
  const pipe = join(models.directory, '.pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  // Each holds a thread of those that ask the file system.
  const held = Promise.all(Array.from({ length: THREADS_OF_FILE_SYSTEM }, () => open(pipe)));
  let isAnswered = false;
  const answer = () => {
    if (!isAnswered) closeSync(openSync(pipe, constants.O_RDWR));
    isAnswered = true;
  };
  const reloading = started.reload();
  const late = setTimeout(answer, 60_000);
  await started.close();
  expect([started.pids, isAnswered]).toEqual([[], false]);
  clearTimeout(late);
  answer();
  await Promise.all((await held).map((reader) => reader.close()));
  await reloading;
});

describe('a release whose folder disappears while it is loaded', () => {
  let goAway: (() => void) | null;
  let comeBack: () => void;

  async function startAndLose(): Promise<OnnxBackend> {
    await installTiny(models.directory, '2026-01-01');
    // The clock is read as a release begins to be loaded: it has been found whole by then.
    const clock = () => {
      goAway?.();
      goAway = null;
      return models.nowMs;
    };
    goAway = null;
    const started = await models.start({ clock });
    const folder = await installTiny(models.directory, '2026-02-01');
    const aside = join(models.directory, 'aside');
    await started.reload();
    goAway = () => renameSync(folder, aside);
    comeBack = () => renameSync(aside, folder);
    await started.reload();
    expect(versionOn(started)).toBe(OLD);
    expect(models.lines.map(({ message }) => message)).toContain('a release was removed while it was loaded');
    return started;
  }

  test('a release whose folder disappears while it is loaded is loaded when the same folder comes back', async () => {
    const started = await startAndLose();
    await started.reload();
    comeBack();
    await look(started);
    expect(versionOn(started)).toBe(NEW);
  });

  test('a release whose folder is back before the next reload is retried after a minute', async () => {
    const started = await startAndLose();
    comeBack();
    await look(started);
    expect(versionOn(started)).toBe(OLD);
    models.passTime(61_000);
    await started.reload();
    expect(versionOn(started)).toBe(NEW);
  });
});

test('a missing folder of models changes nothing', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start({ modelsDirectory: join(models.directory, '.') });
  await rm(models.directory, { recursive: true });
  expect(await rejectionOf(started.reload())).toMatchObject({ code: 'ENOENT' });
  expect(versionOn(started)).toBe(OLD);
  expect(await statusOn(started, OLD)).toBe('succeeded');
});

describe('a release whose warm-up never ends', () => {
  const impatient = { patienceMs: 100 };

  test('a release whose warm-up never ends delays neither the start nor other releases', async () => {
    await installTiny(models.directory, '2026-01-01');
    await installMisbehaving(models.directory, '2026-02-01', 'endless');
    const started = await models.start({ ...impatient, endpoints: [tinyAdd, tinyAddTwo] });
    const serves = async (endpoints: number) => {
      await started.reload();
      return started.installedEndpoints().length === endpoints;
    };
    await until(() => serves(1), 60_000);
    expect(versionOn(started)).toBe(OLD);

    await installTiny(models.directory, '2026-01-01', { model: 'other', task: 'adding-one-too' });
    await until(() => serves(2), 60_000);
    expect(await statusOn(started, OLD)).toBe('succeeded');
    expect(started.pids).toHaveLength(3);
  });

  test('a release whose warm-up never ends is stopped after the time limit with the reason, and is not begun again', async () => {
    await installMisbehaving(models.directory, '2026-02-01', 'endless');
    const started = await models.start({ ...impatient, readyTimeoutMs: 1_000 });
    await until(async () => {
      await started.reload();
      return models.reasons().some((reason) => /^it was not ready after 1 seconds: .*warm-up/.test(reason));
    }, 240_000);
    await until(() => started.pids.length === 0, 60_000);
    // Its release has not changed.
    await look(started);
    expect(started.pids).toEqual([]);
    expect(started.installedEndpoints()).toEqual([]);
  });

  test('a release whose warm-up never ends is stopped when its folder is removed', async () => {
    await installTiny(models.directory, '2026-01-01');
    const folder = await installMisbehaving(models.directory, '2026-02-01', 'endless');
    const started = await models.start(impatient);
    await until(() => started.pids.length === 2, 60_000);
    await rm(folder, { recursive: true });
    await until(async () => {
      await started.reload();
      return started.installedEndpoints().length === 1;
    }, 240_000);
    await until(() => started.pids.length === 1, 60_000);
    expect(versionOn(started)).toBe(OLD);
  });
});
