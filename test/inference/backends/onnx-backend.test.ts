import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import sharp from 'sharp';
import type { OnnxBackend, OnnxBackendOptions } from '../../../src/inference/backends/onnx-backend.ts';
import { ServiceError } from '../../../src/platform/service-error.ts';
import { ObjectNotFoundError } from '../../../src/platform/storage/object-store.ts';
import { installMisbehaving } from '../support/installed-tiny.ts';
import {
  createTinyBackend,
  modelsDirectory,
  recordingLog,
  rejectionOf,
  tinyAdd,
  tinyRequest,
} from '../support/tiny-endpoint.ts';

const picture = await sharp({ create: { width: 41, height: 7, channels: 3, background: '#888888' } })
  .png()
  .toBuffer();
const never = { signal: new AbortController().signal };
const { log, lines } = recordingLog();

/** What the object store returns. */
let stored: () => Promise<Uint8Array>;
/** One for all tests that leave it whole. */
let onnx: OnnxBackend;
let others: OnnxBackend[] = [];

function create(changes: Partial<OnnxBackendOptions> = {}): Promise<OnnxBackend> {
  return createTinyBackend({
    store: { get: () => stored() },
    logger: log,
    ...changes,
  });
}

async function backend(changes: Partial<OnnxBackendOptions>): Promise<OnnxBackend> {
  const created = await create(changes);
  others.push(created);
  return created;
}

beforeAll(async () => {
  onnx = await create();
});

beforeEach(() => {
  stored = async () => picture;
  lines.length = 0;
});

afterEach(async () => {
  await Promise.all(others.map((each) => each.close()));
  others = [];
});

afterAll(() => onnx.close());

test('decodes and runs a job in a child process and charges it in full', async () => {
  expect(onnx.modelVersion({ endpoint: 'tiny.add', livemode: true })).toBe('tiny@2026-01-01');
  expect(onnx.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: 'tiny@2026-01-01' }]);
  const outcome = await onnx.infer(tinyRequest(), never);
  expect(outcome).toMatchObject({ status: 'succeeded', result: { sum: 42 }, error: null, chargedCredits: 5 });
});

test("the decoding process has none of the worker's environment", async () => {
  const { result } = await onnx.infer(tinyRequest(), never);
  const { environment } = result as { environment: string[] };
  expect(Object.keys(process.env)).toContain('PATH');
  // libvips puts its own folder in.
  expect(environment.filter((name) => name !== 'VIPSHOME')).toEqual(['MALLOC_ARENA_MAX']);
});

test('the decoding process cannot read other files, write files, or start processes or threads', async () => {
  const { result } = await onnx.infer(tinyRequest({ parameters: { behaviour: 'escape' } }), never);
  expect((result as { environment: string[] }).environment).toEqual(Array(6).fill('ERR_ACCESS_DENIED'));
});

test('an unreadable picture fails the job without charge, with advice', async () => {
  stored = async () => Buffer.from('not a picture');
  const outcome = await onnx.infer(tinyRequest(), never);
  expect(outcome).toMatchObject({ status: 'failed', result: null, chargedCredits: 0 });
  expect(outcome.error).toMatchObject({ type: 'processing_error', code: 'input_unreadable' });
});

test('says which of several pictures is unreadable', async () => {
  const copying = await backend({ endpoints: [{ ...tinyAdd, slug: 'tiny.copy' }] });
  const files = [picture, picture, Buffer.from('not a picture')];
  stored = async () => files.shift() ?? picture;
  const inputs = Array.from({ length: 3 }, () => tinyRequest().inputs).flat();
  const { error } = await copying.infer(tinyRequest({ endpoint: 'tiny.copy', inputs }), never);
  expect(error?.code).toBe('input_unreadable');
  expect(error?.message).toMatch(/^Picture 3: The file is not a readable/);
});

test('NaN in an output fails the job', async () => {
  const modelsDirectory = await mkdtemp(join(tmpdir(), 'onnx-backend-'));
  await installMisbehaving(modelsDirectory, '2026-02-01', 'roots');
  const rooting = await backend({ modelsDirectory });
  // The root of what its picture is wide, less 50.
  const error = await rejectionOf(rooting.infer(tinyRequest(), never));
  expect(error).toMatchObject({ code: 'model_inference_failed', retryable: true });
  expect((error as ServiceError).cause).toMatchObject({ message: 'tiny/tiny: output y contains NaN' });

  stored = () =>
    sharp({ create: { width: 59, height: 7, channels: 3, background: '#888888' } })
      .png()
      .toBuffer();
  expect((await rooting.infer(tinyRequest(), never)).result).toMatchObject({ sum: 3 });
  await rm(modelsDirectory, { recursive: true });
});

test('a file that is no longer stored fails the job; a store that is down is retryable', async () => {
  stored = () => Promise.reject(new ObjectNotFoundError('gone'));
  expect((await onnx.infer(tinyRequest(), never)).error?.code).toBe('input_unreadable');

  stored = () => Promise.reject(new Error('connection refused'));
  const error = await rejectionOf(onnx.infer(tinyRequest(), never));
  expect(error).toMatchObject({ code: 'service_unavailable', retryable: true });
});

test('a failing pipeline is retryable and reveals no internals', async () => {
  const error = await rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'throw' } }), never));
  expect(error).toMatchObject({ code: 'model_inference_failed', retryable: true });
  expect((error as ServiceError).toJobError().message).not.toContain('secret');
  expect(lines.at(-1)?.fields).toMatchObject({ err: { cause: { message: 'a secret of the inside' } } });
  expect((await onnx.infer(tinyRequest(), never)).status).toBe('succeeded');
});

test('a result that violates the schema fails the job permanently and is logged', async () => {
  const outcome = await onnx.infer(tinyRequest({ parameters: { behaviour: 'break_schema' } }), never);
  expect(outcome).toMatchObject({ status: 'failed', result: null, chargedCredits: 0 });
  expect(outcome.error?.code).toBe('model_inference_failed');
  expect(lines.at(-1)?.fields.problem).toContain('result.sum must be number');
});

test('a job that is aborted before it starts is not started', async () => {
  stored = () => Promise.reject(new Error('must not be asked'));
  expect(await rejectionOf(onnx.infer(tinyRequest(), { signal: AbortSignal.abort() }))).toMatchObject({
    name: 'AbortError',
  });
});

test('an endpoint without an installed model is not announced, and its jobs fail', async () => {
  const other = await backend({ modelsDirectory: fileURLToPath(new URL('./nowhere/', modelsDirectory)) });
  expect(other.installedEndpoints()).toEqual([]);
  expect(other.pids).toEqual([]);
  expect(lines[0]?.fields).toMatchObject({
    endpoint: 'tiny.add',
    reason: 'no model with the task adding-one is installed',
  });
  expect(() => other.modelVersion({ endpoint: 'tiny.add', livemode: true })).toThrow(ServiceError);
  expect(await rejectionOf(other.infer(tinyRequest(), never))).toMatchObject({ code: 'model_unavailable' });
});

test('an endpoint whose pipeline is missing is left out, and the others work', async () => {
  const other = await backend({ endpoints: [{ ...tinyAdd, slug: 'tiny.absent' }, tinyAdd] });
  expect(other.installedEndpoints().map(({ endpoint }) => endpoint)).toEqual(['tiny.add']);
  expect(lines[0]?.fields.endpoints).toEqual(['tiny.absent']);
});

test('a model that cannot run is logged by its file and not announced', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'onnx-backend-'));
  try {
    const release = join(directory, 'tiny', '2026-01-01');
    await cp(new URL('tiny/2026-01-01/', modelsDirectory), release, { recursive: true });
    const manifest = JSON.parse(await readFile(join(release, 'model.json'), 'utf8')) as object;
    await writeFile(join(release, 'model.json'), JSON.stringify({ ...manifest, warmUp: { tiny: { z: [3] } } }));
    const other = await backend({ modelsDirectory: directory });
    expect(other.installedEndpoints()).toEqual([]);
    expect(lines[0]?.fields.reason).toMatch(/^warmUp\.tiny: tiny@2026-01-01 cannot run it/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
