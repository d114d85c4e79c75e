/** Jobs that pin a release: it is loaded on demand, and a release that cannot run is refused. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { installTiny } from '../support/installed-tiny.ts';
import { look, NEW, never, OLD, refusalOn, statusOn, useModelFolder, versionOn } from '../support/model-folder.ts';
import { rejectionOf, tinyRequest } from '../support/tiny-endpoint.ts';

const models = useModelFolder();

test('a release that failed may be pinned again once its folder was removed and comes back', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start();
  const folder = await installTiny(models.directory, '2026-02-01', { warmUp: { tiny: { z: [3] } } });
  await look(started);
  expect(started.installedEndpoints()[0]?.otherVersions).toBeUndefined();
  const aside = join(models.directory, 'aside');
  renameSync(folder, aside);
  await installTiny(models.directory, '2026-03-01');
  await look(started);
  renameSync(aside, folder);
  await look(started);
  expect(started.installedEndpoints()[0]?.otherVersions).toEqual([NEW, OLD]);
});

test('a job may pin any installed release, which is loaded on demand and unloaded when idle', async () => {
  for (const release of ['2025-12-01', '2026-01-01', '2026-02-01']) await installTiny(models.directory, release);
  const started = await models.start();
  expect(started.loaded).toEqual([NEW]);
  expect(started.installedEndpoints()[0]?.otherVersions).toEqual([OLD, 'tiny@2025-12-01']);
  expect(versionOn(started, 'tiny@2025-12-01')).toBe('tiny@2025-12-01');
  expect(await statusOn(started, 'tiny@2025-12-01')).toBe('succeeded');
  expect(started.loaded).toEqual([NEW, 'tiny@2025-12-01']);

  models.passTime(4 * 60_000);
  await started.reload();
  expect(started.loaded).toHaveLength(2);
  models.passTime(2 * 60_000);
  await started.reload();
  expect(started.loaded).toEqual([NEW]);
});

test('a job whose build has been removed does not run on another build', async () => {
  await installTiny(models.directory, '2026-01-01');
  const started = await models.start();
  expect(versionOn(started, 'tiny@2025-01-01')).toBe(OLD);
  const running = started.infer(tinyRequest({ modelVersion: 'tiny@2025-01-01' }), never);
  expect(await rejectionOf(running)).toMatchObject({ code: 'model_unavailable', retryable: true });
});

test('a pinned release that does not run fails its job and is no longer offered', async () => {
  await installTiny(models.directory, '2026-01-01', { warmUp: { tiny: { z: [3] } } });
  await installTiny(models.directory, '2026-02-01');
  const started = await models.start();
  expect(started.installedEndpoints()[0]?.otherVersions).toEqual([OLD]);
  const running = started.infer(tinyRequest({ modelVersion: OLD }), never);
  const message = `${OLD} cannot be run. Name another build in Model-Version, or none.`;
  // Another worker may run it.
  expect(await rejectionOf(running)).toMatchObject({ code: 'model_unavailable', message, retryable: true });
  expect(started.installedEndpoints()[0]?.otherVersions).toBeUndefined();
  expect(versionOn(started)).toBe(NEW);
  // Before the job is picked up: none of its attempts would find anything else.
  expect(refusalOn(started, OLD)).toMatchObject({ code: 'model_unavailable', message, retryable: false });
});

test('a pinned release that may run later fails with a retryable error', async () => {
  const [folder] = [
    await installTiny(models.directory, '2026-01-01'),
    await installTiny(models.directory, '2026-02-01'),
  ];
  const started = await models.start();
  const aside = join(models.directory, 'aside');
  renameSync(folder, aside);
  await rejectionOf(started.infer(tinyRequest({ modelVersion: OLD }), never));
  const message = `${OLD} cannot be run at the moment. Send the request again.`;
  expect(refusalOn(started, OLD)).toMatchObject({ code: 'model_unavailable', message, retryable: true });
  renameSync(aside, folder);
  models.passTime(61_000);
  expect(versionOn(started, OLD)).toBe(OLD);
});
