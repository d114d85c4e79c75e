import { existsSync, globSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { Type } from 'typebox';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ArtefactFile, WriteArtefact } from '../../../src/artefacts/artefact-writer.ts';
import { inspectArtefact } from '../../../src/artefacts/inspection/inspect-artefact.ts';
import type { InferenceRequest } from '../../../src/contracts/inference-backend.ts';
import type { JobInput } from '../../../src/contracts/job.ts';
import type { OnnxBackend, OnnxBackendOptions } from '../../../src/inference/backends/onnx-backend.ts';
import type { BundleFiles } from '../../../src/inference/bundles/tools.ts';
import { ServiceError } from '../../../src/platform/service-error.ts';
import { ObjectNotFoundError } from '../../../src/platform/storage/object-store.ts';
import { until } from '../../support/until.ts';
import { decoders, encoders, makeVideo, type Rgb } from '../../support/videos.ts';
import { installMisbehaving } from '../support/installed-tiny.ts';
import {
  createTinyBackend,
  modelsDirectory,
  noArtefacts,
  recordingLog,
  rejectionOf,
  standInArtefacts,
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

test('a job is decoded and run in a child process and charged in full', async () => {
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

test('the error says which of several pictures is unreadable', async () => {
  const copying = await backend({ endpoints: [{ ...tinyAdd, slug: 'tiny.copy' }] });
  const files = [picture, picture, Buffer.from('not a picture')];
  stored = async () => files.shift() ?? picture;
  const inputs = Array.from({ length: 3 }, () => tinyRequest().inputs).flat();
  const { error } = await copying.infer(tinyRequest({ endpoint: 'tiny.copy', inputs }), never);
  expect(error?.code).toBe('input_unreadable');
  expect(error?.message).toMatch(/^Picture 3: The file is not a readable/);
});

describe('a job of several pictures', () => {
  const inputs = Array.from({ length: 3 }, () => tinyRequest().inputs).flat();
  const first = (count: number) => tinyRequest({ endpoint: 'tiny.first', inputs, parameters: { first: count } });

  test('each of several pictures is read when the pipeline decodes it, and again when it decodes it again', async () => {
    const counting = await backend({ endpoints: [{ ...tinyAdd, slug: 'tiny.first' }] });
    let read = 0;
    stored = async () => {
      read += 1;
      return picture;
    };
    expect((await counting.infer(first(1), never)).result).toMatchObject({ sum: 41 });
    expect(read).toBe(1);
    expect((await counting.infer(first(3), never)).result).toMatchObject({ sum: 123 });
    expect(read).toBe(4);
  });

  test('one of several pictures that is no longer stored fails the job; a store that is down is retryable', async () => {
    const counting = await backend({ endpoints: [{ ...tinyAdd, slug: 'tiny.first' }] });
    stored = () => Promise.reject(new ObjectNotFoundError('gone'));
    expect((await counting.infer(first(2), never)).error?.code).toBe('input_unreadable');
    stored = () => Promise.reject(new Error('connection refused'));
    const error = await rejectionOf(counting.infer(first(2), never));
    expect(error).toMatchObject({ code: 'service_unavailable', retryable: true });
  });

  test('no further picture of a job is read once the job is cancelled', async () => {
    const counting = await backend({ endpoints: [{ ...tinyAdd, slug: 'tiny.first' }] });
    const cancellation = new AbortController();
    let read = 0;
    stored = async () => {
      read += 1;
      cancellation.abort(new Error('cancelled'));
      return picture;
    };
    await expect(counting.infer(first(3), { signal: cancellation.signal })).rejects.toThrow('cancelled');
    stored = async () => picture;
    expect((await counting.infer(first(1), never)).result).toMatchObject({ sum: 41 });
    expect(read).toBe(1);
  });
});

describe('a video', () => {
  const video = { ...tinyRequest().inputs[0], storageKey: 'walk.mp4', mediaType: 'video/mp4' } as JobInput;
  const request = (changes: Partial<InferenceRequest> = {}) =>
    tinyRequest({ endpoint: 'tiny.first', inputs: [video], parameters: { first: 9 }, ...changes });
  const ofVideo = async (path: string) =>
    backend({
      endpoints: [{ ...tinyAdd, slug: 'tiny.first', files: { ...tinyAdd.files, maximum: 4 } }],
      bundleFiles: { withFile: (_key, use) => use(path) } as BundleFiles,
    });

  test('a video becomes as many frames as the endpoint takes pictures, each with its moment, and leaves no file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'onnx-backend-'));
    const path = join(folder, 'walk.mp4');
    await makeVideo(path, { frames: Array<Rgb>(40).fill([200, 30, 30]), framesPerSecond: 10 });
    const before = globSync(join(tmpdir(), 'frames-*'));
    const { result } = await (await ofVideo(path)).infer(request(), never);
    const { sum, environment } = result as { sum: number; environment: string[] };
    expect(sum).toBe(4 * 128);
    const moments = environment.map(Number);
    for (const [passage, moment] of moments.entries()) expect(Math.floor(moment / 1_000)).toBe(passage);
    // What other tests decode meanwhile goes away by itself.
    const left = globSync(join(tmpdir(), 'frames-*')).filter((made) => !before.includes(made));
    await until(() => left.every((made) => !existsSync(made)), 60_000);
    await rm(folder, { recursive: true });
  });

  test('a video that cannot be decoded fails the job without charge', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'onnx-backend-'));
    const path = join(folder, 'walk.mp4');
    await writeFile(path, 'no video at all');
    const { status, error, chargedCredits } = await (await ofVideo(path)).infer(request(), never);
    expect([status, error?.code, chargedCredits]).toEqual(['failed', 'input_unreadable', 0]);
    expect(decoders()).toEqual([]);
    await rm(folder, { recursive: true });
  });
});

describe('a film', () => {
  const tinyFilm = {
    ...tinyAdd,
    slug: 'tiny.film',
    result: Type.Object({ film: Type.Object({ media_type: Type.String(), width: Type.Number() }) }),
  };
  const of = (pictures: number) => tinyRequest({ endpoint: 'tiny.film', parameters: { pictures } });
  const filming = (changes: Partial<OnnxBackendOptions> = {}) =>
    backend({ endpoints: [tinyFilm], writeArtefact: standInArtefacts, ...changes });

  test('a film is encoded and stored as one file', async () => {
    const written: ArtefactFile[] = [];
    const writeArtefact: WriteArtefact = (file) => {
      written.push(file);
      return standInArtefacts(file);
    };
    const { result } = await (await filming({ writeArtefact })).infer(of(2), never);
    expect(result).toMatchObject({ film: { object: 'artefact', media_type: 'video/mp4', width: 64 } });
    expect(written.map(({ extension }) => extension)).toEqual(['mp4']);
    expect(inspectArtefact(written[0]?.content ?? new Uint8Array(), 'video/mp4')).toEqual({ width: 64, height: 36 });
  });

  test('a film of a result that nobody sees is described and not stored', async () => {
    const started = await filming({ writeArtefact: noArtefacts });
    const { result } = await started.infer(of(2), { ...never, isUnseen: true });
    expect(result).toMatchObject({ film: { object: 'artefact', media_type: 'video/mp4', width: 64 } });
  });

  test('a film that is cancelled while it is encoded leaves no process', async () => {
    const film = await filming();
    const cancellation = new AbortController();
    const making = rejectionOf(film.infer(of(2_000), { signal: cancellation.signal }));
    while (encoders().length === 0) await new Promise((resolve) => setImmediate(resolve));
    cancellation.abort(new Error('cancelled'));
    expect(await making).toMatchObject({ message: 'cancelled' });
    expect(encoders()).toEqual([]);
  });

  test('a worker without the package for videos leaves films to others', async () => {
    expect((await filming()).installedEndpoints().map(({ endpoint }) => endpoint)).toEqual(['tiny.film']);
    const without = await filming({ decodesVideos: false });
    expect(without.installedEndpoints()).toEqual([]);
    expect(() => without.modelVersion({ endpoint: 'tiny.film', livemode: true })).toThrow(/No model is installed/);
  });
});

test('a worker that decodes no videos leaves them to others', async () => {
  const undecoding = await backend({ decodesVideos: false });
  const { inputs } = tinyRequest();
  const asked = { endpoint: 'tiny.add', livemode: true };
  expect(undecoding.modelVersion({ ...asked, inputs })).toBe('tiny@2026-01-01');
  const videos = inputs.map((input) => ({ ...input, mediaType: 'video/mp4' }));
  expect(() => undecoding.modelVersion({ ...asked, inputs: videos })).toThrow(/decodes no videos/);
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
  expect(await rejectionOf(other.infer(tinyRequest({ endpoint: 'tiny.absent' }), never))).toMatchObject({
    code: 'model_unavailable',
  });
  expect((await other.infer(tinyRequest(), never)).status).toBe('succeeded');
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
