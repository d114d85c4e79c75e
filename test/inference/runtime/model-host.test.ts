/** The folder of models changes while jobs run: a new release takes over, the old one finishes, a broken one changes nothing. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withLogFields } from '../../../src/platform/logging/log-context.ts';
import { recordLog } from '../../support/log-record.ts';
import { until } from '../../support/until.ts';
import { installTiny } from '../support/installed-tiny.ts';
import { look, NEW, never, OLD, statusOn, tinyAddTwo, useModelFolder, versionOn } from '../support/model-folder.ts';
import { isRunning, letGo } from '../support/processes.ts';
import { rejectionOf, tinyAdd, tinyRequest } from '../support/tiny-endpoint.ts';

const models = useModelFolder();

test('a new release takes over without a restart, and a job on the old one finishes', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start();
  const [oldPid] = started.pids;
  const running = started.infer(tinyRequest({ parameters: { behaviour: 'wait' } }), never);

  await installTiny(models.directory, '2026-02-01');
  await look(started);
  expect(versionOn(started)).toBe(NEW);
  expect(started.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: NEW, otherVersions: [OLD] }]);
  expect(await statusOn(started, NEW)).toBe('succeeded');
  // Both are loaded for as long as the old one has work.
  expect(await isRunning(oldPid ?? 0)).toBe(true);

  expect((await letGo(running, () => [oldPid ?? 0])).status).toBe('succeeded');
  await until(async () => !(await isRunning(oldPid ?? 0)), 60_000);
  expect(started.loaded).toEqual([NEW]);
});

test('a release is loaded only when it is completely copied', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start();
  const folder = await installTiny(models.directory, '2026-02-01');
  const network = await readFile(join(folder, 'tiny.onnx'));
  for (const bytes of [network.subarray(0, 0), network.subarray(0, 50)]) {
    await writeFile(join(folder, 'tiny.onnx'), bytes);
    await look(started);
    expect(versionOn(started)).toBe(OLD);
  }
  await writeFile(join(folder, 'tiny.onnx'), network);
  // It may still be written: one check proves nothing.
  await started.reload();
  expect(versionOn(started)).toBe(OLD);
  await started.reload();
  expect(versionOn(started)).toBe(NEW);
});

test('reload({ now: true }) loads a new release at once', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start();
  await installTiny(models.directory, '2026-02-01');
  await started.reload({ now: true });
  expect(versionOn(started)).toBe(NEW);
});

test('a reload starts and reads nothing when nothing has changed', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start();
  const { pids } = started;
  await look(started);
  await started.reload({ now: true });
  expect(started.pids).toEqual(pids);
});

test('a release that does not run changes nothing, and is loaded once it is fixed', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start();
  const { pids } = started;
  await installTiny(models.directory, '2026-02-01', { warmUp: { tiny: { z: [3] } } });
  await look(started);
  await look(started);
  expect(versionOn(started)).toBe(OLD);
  expect(started.pids).toEqual(pids);
  // Said once, not at every look.
  expect(models.reasons().filter((reason) => reason.includes('warmUp.tiny'))).toHaveLength(1);
  // Nobody can pin what does not run.
  expect(started.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: OLD }]);

  await installTiny(models.directory, '2026-02-01');
  await look(started);
  expect(versionOn(started)).toBe(NEW);
});

test('logs of a process do not name the job that triggered its start', async () => {
  await installTiny(models.directory, '2026-01-01');
  await installTiny(models.directory, '2026-02-01');
  const record = recordLog();
  const started = await models.start({ logger: record.logger });
  const crash = tinyRequest({ modelVersion: OLD, parameters: { behaviour: 'crash' } });
  await withLogFields({ jobId: 'job_1' }, () => rejectionOf(started.infer(crash, never)));
  const ofOld = (text: string) =>
    record.waitFor(({ msg, modelVersion }) => msg === text && modelVersion === OLD, 60_000);
  expect(await ofOld('a release is loaded')).not.toHaveProperty('jobId');
  expect(await ofOld('an inference child process ended; it is replaced')).not.toHaveProperty('jobId');
  expect(await ofOld('an inference attempt failed')).toHaveProperty('jobId');
});

test('a worker that starts with a broken release serves the previous one', async () => {
  await installTiny(models.directory, '2026-01-01');
  await installTiny(models.directory, '2026-02-01', { warmUp: { tiny: { z: [3] } } });
  expect(versionOn(await models.start())).toBe(OLD);
});

test('each of two endpoints with the same task is served by the newest release that has what it needs', async () => {
  await installTiny(models.directory, '2026-01-01', { thresholds: { picky: 7 } });
  await installTiny(models.directory, '2026-02-01');
  const started = await models.start({ endpoints: [tinyAdd, { ...tinyAdd, slug: 'tiny.picky' }] });
  expect(started.installedEndpoints()).toEqual([
    { endpoint: 'tiny.add', modelVersion: NEW, otherVersions: [OLD] },
    { endpoint: 'tiny.picky', modelVersion: OLD },
  ]);
  expect(models.reasons()).toContain('thresholds.picky is missing from model.json');
  const { result } = await started.infer(tinyRequest({ endpoint: 'tiny.picky' }), never);
  expect(result).toEqual({ sum: 7, environment: [] });
});

test('when a release is removed the previous one serves again; without one, the endpoint is unavailable', async () => {
  await installTiny(models.directory, '2026-01-01');
  await installTiny(models.directory, '2026-02-01');
  const started = await models.start();
  expect(versionOn(started)).toBe(NEW);
  await rm(join(models.directory, 'tiny', '2026-02-01'), { recursive: true });
  await started.reload();
  expect(versionOn(started)).toBe(OLD);
  await rm(join(models.directory, 'tiny'), { recursive: true });
  await started.reload();
  expect(started.installedEndpoints()).toEqual([]);
  expect(() => versionOn(started)).toThrow('No model is installed');
  await until(() => started.pids.length === 0, 60_000);
});

test("a model's crash ends no process of another model", async () => {
  await installTiny(models.directory, '2026-01-01');
  await installTiny(models.directory, '2026-01-01', { model: 'other', task: 'adding-one-too' });
  const started = await models.start({ endpoints: [tinyAdd, tinyAddTwo] });
  expect(started.loaded).toEqual([OLD, 'other@2026-01-01']);
  const [, other] = started.pids;
  const crashing = started.infer(tinyRequest({ parameters: { behaviour: 'crash' } }), never);
  const beside = started.infer(tinyRequest({ endpoint: 'tiny.add-two', parameters: { behaviour: 'wait' } }), never);
  expect(await rejectionOf(crashing)).toMatchObject({ code: 'model_inference_failed' });
  expect((await letGo(beside, () => started.pids)).status).toBe('succeeded');
  expect(started.pids).toContain(other);
});

test.each(['cuda', 'tensorrt'] as const)(
  'a worker that is told to use %s does not start where it does not work',
  async (provider) => {
    await installTiny(models.directory, '2026-01-01');
    // No machine has as many: the test holds where there is a GPU, too.
    const error = await rejectionOf(models.start({ devices: [{ provider, id: 999 }] }));
    expect((error as Error).message).toMatch(
      new RegExp(`^Networks cannot run by ${provider} on device 999: .+INFERENCE_EXECUTION_PROVIDER`, 's'),
    );
  },
);
