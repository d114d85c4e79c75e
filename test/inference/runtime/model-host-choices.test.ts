/** Releases that an operator chose: which serves, which is tried, and that it changes while the worker runs. */
import { beforeEach, expect, test } from 'vitest';
import type { ReleaseChoice } from '../../../src/contracts/release-choice.ts';
import { installTiny } from '../support/installed-tiny.ts';
import { look, NEW, OLD, statusOn, useModelFolder, versionOn } from '../support/model-folder.ts';

const models = useModelFolder();
let choices: Map<string, ReleaseChoice>;
let readChoices: () => Promise<Map<string, ReleaseChoice>>;

beforeEach(() => {
  choices = new Map();
  readChoices = async () => new Map(choices);
});

const choose = (serving: string, mode: 'shadow' | 'canary' | null = null) =>
  choices.set('tiny.add', { serving, trial: mode && { modelVersion: NEW, mode, sharePercent: 10 } });
const start = () => models.start({ readChoices: () => readChoices() });

test('the chosen release serves although a newer one is installed, from the start and after a change', async () => {
  await installTiny(models.directory, '2026-01-01');
  await installTiny(models.directory, '2026-02-01');
  choose(OLD);
  const started = await start();
  expect([versionOn(started), started.loaded]).toEqual([OLD, [OLD]]);
  expect(started.installedEndpoints()).toMatchObject([{ modelVersion: OLD, otherVersions: [NEW] }]);
  choose(NEW);
  await started.reload();
  expect(versionOn(started)).toBe(NEW);
  choices.clear();
  await started.reload();
  expect(versionOn(started)).toBe(NEW);
});

test('a release that is tried before it is installed does not serve when it comes', async () => {
  await installTiny(models.directory, '2026-01-01');
  choose(OLD, 'shadow');
  const started = await start();
  await installTiny(models.directory, '2026-02-01');
  await look(started);
  expect([versionOn(started), versionOn(started, NEW)]).toEqual([OLD, NEW]);
  expect(started.trial('tiny.add')).toEqual({ modelVersion: NEW, mode: 'shadow', sharePercent: 10 });
  // It is loaded when a job runs on it, as a pinned one is.
  expect(started.loaded).toEqual([OLD]);
  expect(await statusOn(started, NEW)).toBe('succeeded');
});

test('a worker without the chosen release serves another, but never the one that is tried', async () => {
  await installTiny(models.directory, '2026-02-01');
  choose(OLD, 'shadow');
  const started = await start();
  expect(started.installedEndpoints()).toEqual([]);
  await installTiny(models.directory, '2025-12-01');
  await look(started);
  expect(versionOn(started)).toBe('tiny@2025-12-01');
});

test('a canary is warm before it takes jobs, and stays loaded while it is tried', async () => {
  await installTiny(models.directory, '2026-01-01');
  choose(OLD, 'canary');
  const started = await start();
  expect(started.trial('tiny.add')).toBeNull();
  await installTiny(models.directory, '2026-02-01');
  await look(started);
  expect([started.trial('tiny.add')?.modelVersion, started.loaded]).toEqual([NEW, [OLD, NEW]]);
  models.passTime(6 * 60_000);
  await started.reload();
  expect(started.loaded).toEqual([OLD, NEW]);
  choose(OLD);
  await started.reload();
  expect([started.trial('tiny.add'), started.loaded]).toEqual([null, [OLD]]);
});

test('a canary that does not run takes no jobs', async () => {
  await installTiny(models.directory, '2026-01-01');
  await installTiny(models.directory, '2026-02-01', { warmUp: { tiny: { z: [3] } } });
  choose(OLD, 'canary');
  const started = await start();
  expect([started.trial('tiny.add'), versionOn(started)]).toEqual([null, OLD]);
});

test('while the choices cannot be read, nothing changes', async () => {
  await installTiny(models.directory, '2026-01-01');
  await installTiny(models.directory, '2026-02-01');
  choose(OLD);
  const started = await start();
  readChoices = () => Promise.reject(new Error('PostgreSQL is away'));
  await expect(started.reload()).rejects.toThrow('PostgreSQL is away');
  expect(versionOn(started)).toBe(OLD);
});
