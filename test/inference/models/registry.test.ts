import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { versionOf } from '../../../src/inference/models/manifest.ts';
import { createModelFolder } from '../../../src/inference/models/registry.ts';
import { fingerprintOf, hasChangedSince } from '../../../src/inference/models/release.ts';
import type { Log } from '../../../src/platform/logging/log.ts';
import { modelsDirectory, recordingLog } from '../support/tiny-endpoint.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'model-registry-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** Installs the tiny model as one release, its `model.json` changed. */
async function install(model: string, release: string, changes: Record<string, unknown> = {}): Promise<string> {
  const folder = join(directory, model, release);
  await cp(new URL('tiny/2026-01-01/', modelsDirectory), folder, { recursive: true });
  const path = join(folder, 'model.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  await writeFile(path, JSON.stringify({ ...manifest, model, release, ...changes }));
  return folder;
}

async function load() {
  const { log, lines } = recordingLog();
  const registry = await createModelFolder(directory, log).read();
  return { registry, reasons: lines.map(({ fields }) => String(fields.reason)) };
}

test('the newest release of a model wins, and each can be named', async () => {
  await install('tiny', '2026-02-28');
  await install('tiny', '2026-10-04');
  await install('tiny', '2025-12-31');
  const { registry, reasons } = await load();
  expect(versionOf(registry.find('tiny')?.manifest ?? { model: '', release: '' })).toBe('tiny@2026-10-04');
  expect(registry.find('tiny@2025-12-31')?.manifest.release).toBe('2025-12-31');
  expect(registry.models).toHaveLength(3);
  expect(reasons).toEqual([]);
});

test('the registry does not confuse a model with one whose name begins with its own', async () => {
  await install('tiny-two', '2026-01-01');
  const { registry } = await load();
  expect(registry.find('tiny')).toBeUndefined();
});

test('the registry refuses a file whose hash differs from model.json and uses the older release', async () => {
  await install('tiny', '2026-01-01');
  const folder = await install('tiny', '2026-02-01');
  await writeFile(join(folder, 'tiny.onnx'), 'exchanged');
  const { registry, reasons } = await load();
  expect(registry.find('tiny')?.manifest.release).toBe('2026-01-01');
  expect(reasons).toEqual([
    expect.stringMatching(/^files\.tiny\.sha256: tiny\.onnx has [0-9a-f]{64}, model\.json says/),
  ]);
});

test('the registry names a missing file, a missing model.json and an invalid model.json', async () => {
  await rm(join(await install('a', '2026-01-01'), 'tiny.onnx'));
  await rm(join(await install('b', '2026-01-01'), 'model.json'));
  await writeFile(join(await install('c', '2026-01-01'), 'model.json'), '{');
  const { registry, reasons } = await load();
  expect(registry.models).toEqual([]);
  expect(reasons.sort()).toEqual([
    'files.tiny: tiny.onnx is missing',
    'model.json is missing',
    expect.stringMatching(/^model\.json is not JSON: /),
  ]);
});

const inPlaceOfAFile: [string, (path: string) => Promise<unknown>][] = [
  ['a named pipe that nobody writes to', (path) => promisify(execFile)('mkfifo', [path])],
  ['a folder', (path) => mkdir(path)],
];

test.each(inPlaceOfAFile)('the registry refuses %s in place of a file and names the file', async (_, put) => {
  for (const [release, file] of [
    ['2026-02-01', 'tiny.onnx'],
    ['2026-03-01', 'model.json'],
  ] as const) {
    const path = join(await install('tiny', release), file);
    await rm(path);
    await put(path);
  }
  await install('tiny', '2026-01-01');
  const { registry, reasons } = await load();
  expect(reasons.sort()).toEqual(['files.tiny: tiny.onnx is not a file', 'model.json is not a file']);
  expect(registry.find('tiny')?.manifest.release).toBe('2026-01-01');
});

const TINY = (
  JSON.parse(readFileSync(new URL('tiny/2026-01-01/model.json', modelsDirectory), 'utf8')) as {
    files: { tiny: Record<string, unknown> };
  }
).files.tiny;

const wrongFields: [string, Record<string, unknown>, RegExp][] = [
  ['no task', { task: undefined }, /model\.json must have required property 'task'/],
  ['a release that is not a date', { release: 'newest' }, /release must be a calendar date/],
  ['a release of no day there is', { release: '2027-13-45' }, /release must be a calendar date/],
  ['a threshold that is not a number', { thresholds: { presence: 'high' } }, /thresholds\.presence must be number/],
  ['a file that is not warmed up', { warmUp: {} }, /warmUp\.tiny is missing/],
  ['a warm-up of a file it lacks', { warmUp: { other: {} } }, /warmUp\.other is not one of files/],
  ['a memory that is no number of megabytes', { memoryMb: 0.5 }, /memoryMb must be integer/],
  ['a batch of no size', { files: { tiny: { ...TINY, batch: {} } } }, /files\.tiny\.batch must have .*'max'/],
  ['a batch of nothing', { files: { tiny: { ...TINY, batch: { max: 0 } } } }, /files\.tiny\.batch\.max must be >= 1/],
  [
    'a batch of a network for one sample',
    { files: { tiny: { ...TINY, batch: { max: 2 }, inputs: { x: { shape: [1] } } } } },
    /files\.tiny\.batch needs files\.tiny\.inputs\.x\.shape to begin with the name .+, not 1$/,
  ],
  [
    'a batch whose outputs are not by sample',
    { files: { tiny: { ...TINY, batch: { max: 2 }, outputs: { y: { shape: ['M'] } } } } },
    /files\.tiny\.outputs\.y\.shape to begin with the name .+, not "M"$/,
  ],
  ['a field that is misspelt', { lables: [] }, /model\.json must not have the property 'lables', only model, release/],
  ['a field in another case', { memorymb: 40 }, /must not have the property 'memorymb': 'memoryMb' may be meant$/],
  [
    'a misspelt field of a file',
    { files: { tiny: { ...TINY, bacth: { max: 2 } } } },
    /files\.tiny must not have the property 'bacth': 'batch' may be meant$/,
  ],
  [
    'a misspelt field of an input',
    { files: { tiny: { ...TINY, inputs: { x: { shape: ['N'], fliter: 'bilinear' } } } } },
    /files\.tiny\.inputs\.x must not have the property 'fliter': 'filter' may be meant$/,
  ],
  [
    'a misspelt field of an output',
    { files: { tiny: { ...TINY, outputs: { y: { shape: ['N'], dtpye: 'int64' } } } } },
    /files\.tiny\.outputs\.y must not have the property 'dtpye': 'dtype' may be meant$/,
  ],
  [
    'a label of no kind',
    { files: { tiny: { ...TINY, labels: ['tire', 5] } } },
    /^model\.json: files\.tiny\.labels\.1 must be string, object or null$/,
  ],
  ['another name than its folder', { model: 'other' }, /model is other, its folder tiny/],
  ['another release than its folder', { release: '2020-01-01' }, /release is 2020-01-01, its folder 2026-01-01/],
];

test.each(wrongFields)('the registry refuses a model.json with %s and names the field', async (_, changes, reason) => {
  await install('tiny', '2026-01-01', changes);
  const { registry, reasons } = await load();
  expect(registry.models).toEqual([]);
  expect(reasons).toEqual([expect.stringMatching(reason)]);
});

test('the registry accepts remarks for readers in their own fields', async () => {
  const inputs = { x: { shape: ['N'], interpolation: 'none' } };
  const outputs = { y: { shape: ['N'], meaning: 'x + 1', coordinateSpace: 'none' } };
  await install('tiny', '2026-01-01', {
    files: { tiny: { ...TINY, inputs, outputs } },
    rules: { ourOwn: true },
    notes: { trainedOn: ['numbers'], by: 'us' },
  });
  const { registry, reasons } = await load();
  expect(reasons).toEqual([]);
  expect(registry.models).toHaveLength(1);
});

test('the shipped models are valid', async () => {
  const { log, lines } = recordingLog();
  const shipped = fileURLToPath(new URL('../../../models/', import.meta.url));
  const { models } = await createModelFolder(shipped, log).read();
  expect(models.map(({ manifest }) => manifest.model)).toEqual(
    expect.arrayContaining(['dashboard-reader', 'text-line']),
  );
  expect(lines).toEqual([]);
});

test('the registry refuses a file path outside the folder', async () => {
  const file = { path: '../tiny.onnx', sha256: '0'.repeat(64), inputs: {}, outputs: {} };
  await install('tiny', '2026-01-01', { files: { tiny: file } });
  const { reasons } = await load();
  expect(reasons).toEqual([expect.stringMatching(/files\.tiny\.path must match pattern/)]);
});

test('the registry resolves the models that a model uses, the newest or the named release', async () => {
  await install('text', '2026-01-01');
  await install('text', '2026-02-01');
  await install('reader', '2026-03-01', { uses: { line: 'text@2026-01-01', plate: 'text' } });
  const { registry } = await load();
  const { uses } = registry.find('reader') ?? {};
  expect([uses?.line?.manifest.release, uses?.plate?.manifest.release]).toEqual(['2026-01-01', '2026-02-01']);
});

test('the registry refuses a model that uses itself or a missing model', async () => {
  await install('reader', '2026-03-01', { uses: { line: 'text' } });
  await install('snake', '2026-03-01', { uses: { tail: 'snake' } });
  const { registry, reasons } = await load();
  expect([registry.find('reader'), registry.find('snake')]).toEqual([undefined, undefined]);
  expect(reasons).toContain('uses.line: text is not installed');
});

test('the registry does not read an unchanged folder again', async () => {
  await install('tiny', '2026-01-01');
  const folder = createModelFolder(directory, recordingLog().log);
  const first = await folder.read();
  expect(await folder.read()).toBe(first);
  await install('tiny', '2026-02-01');
  expect(await folder.read()).toBe(first);
  expect((await folder.read()).models).toHaveLength(2);
});

test('the registry does not report a release as damaged that is removed during the reading', async () => {
  for (const model of ['a', 'b']) await rm(join(await install(model, '2026-01-01'), 'tiny.onnx'));
  const { log, lines } = recordingLog();
  const removeOther: Log['error'] = (fields: unknown, message?: string) => {
    log.error(fields, message);
    // Whichever is read first, the other one has been listed.
    rmSync(join(directory, (fields as { model: string }).model === 'a' ? 'b' : 'a'), { recursive: true });
  };
  const folder = createModelFolder(directory, { ...log, error: removeOther });
  await folder.read();
  expect(lines.map(({ fields }) => fields.reason)).toEqual(['files.tiny: tiny.onnx is missing']);
  await folder.read();
  expect(lines).toHaveLength(1);
});

test('the registry ignores missing files of a release that was changed or removed', async () => {
  const release = await install('tiny', '2026-01-01');
  const fingerprint = await fingerprintOf(release);
  expect(await hasChangedSince(fingerprint, release)).toBe(false);
  await writeFile(join(release, 'more.onnx'), 'half of it');
  expect(await hasChangedSince(fingerprint, release)).toBe(true);
  await rm(release, { recursive: true });
  expect(await hasChangedSince(await fingerprintOf(release), release)).toBe(true);
});

test('the registry treats a missing folder of models as empty', async () => {
  const nowhere = fileURLToPath(new URL('./nowhere/', modelsDirectory));
  const registry = await createModelFolder(nowhere, recordingLog().log).read();
  expect(registry.models).toEqual([]);
});
