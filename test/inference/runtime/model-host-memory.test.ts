/** `INFERENCE_MEMORY_MB` bounds which releases are loaded together. */
import { expect, test } from 'vitest';
import { installTiny } from '../support/installed-tiny.ts';
import { look, NEW, OLD, refusalOn, statusOn, tinyAddTwo, useModelFolder, versionOn } from '../support/model-folder.ts';
import { tinyAdd } from '../support/tiny-endpoint.ts';

const models = useModelFolder();

test('a worker refuses models beyond the memory limit with the reason, and serves the others', async () => {
  await installTiny(models.directory, '2026-01-01', { memoryMb: 60 });
  await installTiny(models.directory, '2026-01-01', { model: 'other', task: 'adding-one-too', memoryMb: 60 });
  const started = await models.start({ endpoints: [tinyAdd, tinyAddTwo], memoryMb: 100 });
  expect(started.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: OLD }]);
  expect(models.reasons()).toContain(
    'it needs 60 MB in 1 processes, INFERENCE_MEMORY_MB is 100, and other models take all but 40 MB of it',
  );
  // Each process counts.
  await started.close();
  const doubled = await models.start({ memoryMb: 100, children: 2 });
  expect(doubled.installedEndpoints()).toEqual([]);
});

test('a worker refuses a model without memoryMb where memory is limited', async () => {
  await installTiny(models.directory, '2026-01-01');
  expect((await models.start({ memoryMb: 1000 })).installedEndpoints()).toEqual([]);
  expect(models.reasons()[0]).toBe(
    'memoryMb is missing from model.json of tiny@2026-01-01, and INFERENCE_MEMORY_MB is set',
  );
});

test('a pinned release replaces another pinned one where memory is short, never a default one', async () => {
  for (const release of ['2025-11-01', '2025-12-01', '2026-01-01']) {
    await installTiny(models.directory, release, { memoryMb: 40 });
  }
  const started = await models.start({ memoryMb: 100 });
  expect(await statusOn(started, 'tiny@2025-12-01')).toBe('succeeded');
  expect(await statusOn(started, 'tiny@2025-11-01')).toBe('succeeded');
  expect(started.loaded).toEqual([OLD, 'tiny@2025-11-01']);
});

test('an older release that does not fit beside the default one is not offered, and logged once', async () => {
  await installTiny(models.directory, '2026-01-01', { memoryMb: 70 });
  await installTiny(models.directory, '2026-02-01', { memoryMb: 60 });
  const started = await models.start({ memoryMb: 100 });
  await look(started);
  expect(started.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: NEW }]);
  expect(models.reasons().filter((reason) => reason.startsWith('it needs'))).toEqual([
    'it needs 70 MB in 1 processes, INFERENCE_MEMORY_MB is 100, and other models take all but 40 MB of it',
  ]);
});

test('a new release without room beside the old one is refused, and the old one keeps serving', async () => {
  await installTiny(models.directory, '2026-01-01', { memoryMb: 60 });
  const started = await models.start({ memoryMb: 100 });
  await installTiny(models.directory, '2026-02-01', { memoryMb: 60 });
  await look(started);
  expect(versionOn(started)).toBe(OLD);
  expect(models.reasons()).toContainEqual(expect.stringMatching(/^it needs 60 MB/));
});

test('a pinned release without room is refused before its job is picked up', async () => {
  await installTiny(models.directory, '2026-01-01', { memoryMb: 70 });
  await installTiny(models.directory, '2026-02-01', { memoryMb: 60 });
  const started = await models.start({ memoryMb: 100 });
  expect(refusalOn(started, OLD)).toMatchObject({ code: 'model_unavailable', retryable: false });
});
