/** Live and staging jobs: the installed models, run by ONNX Runtime in child processes. */
import { readFile } from 'node:fs/promises';

import { createArtefactWriter, type WriteArtefact } from '../../artefacts/artefact-writer.ts';
import { provenancePacket } from '../../artefacts/provenance.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { BundleBackend, InferenceBackend, InstalledEndpoint } from '../../contracts/inference-backend.ts';
import type { JobInput } from '../../contracts/job.ts';
import type { ReleaseChoice, Trial } from '../../contracts/release-choice.ts';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { createSignedUrls } from '../../platform/signed-urls.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import { createLiveRunner } from '../bundles/live-runner.ts';
import { installedBundles } from '../bundles/plan.ts';
import { errorOfStore, isOfStore } from '../bundles/store-errors.ts';
import type { BundleFiles } from '../bundles/tools.ts';
import { CPU, type Device } from '../runtime/devices.ts';
import type { AskServer } from '../runtime/kserve/kserve-servers.ts';
import type { TaskFile } from '../runtime/messages.ts';
import { ModelHost } from '../runtime/model-host.ts';
import type { ExecutorObserver } from '../runtime/model-pools.ts';
import { requireDevice } from '../runtime/require-device.ts';
import { importPipeline, pipelineUrl } from '../toolkit/endpoint-folder.ts';
import { type DrawnFilm, encodeFilms, storeMadeFiles } from '../toolkit/images/made-pictures.ts';
import { failed, invalidResult, succeeded } from '../toolkit/outcomes.ts';
import { createResultCheck } from '../toolkit/result-check.ts';
import { encodeFilm } from '../video/encoding/encode-film.ts';
import { createTurns } from '../video/in-turn.ts';
import { keepSharpestFrames, withFrameFolder } from '../video/sharpest-frames.ts';
import { watchVideo } from '../video/watch-video.ts';

export interface OnnxBackendOptions extends ExecutorOptions {
  modelsDirectory: string;
  store: Pick<ObjectStore, 'get'>;
  /** The same store, for videos, and for the pictures that bundles take from them. */
  bundleFiles?: BundleFiles;
  /** Answers the endpoints that use price books, for the stages of bundles. */
  inferByBooks?: InferenceBackend['infer'];
  /** The releases that an operator chose, by endpoint. None when omitted. */
  readChoices?: () => Promise<ReadonlyMap<string, ReleaseChoice>>;
  /** Stores the files of results. */
  writeArtefact: WriteArtefact;
  logger: Log;
  /** Whether the package that decodes videos works here. True when omitted. */
  decodesVideos?: boolean;
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  /** Pause before a lost child process is replaced, and grace period of an abandoned one. */
  restartDelayMs?: number;
  graceMs?: number;
  /** A monotonic clock in milliseconds, to measure how long a release is idle. */
  clock?: () => number;
}

/** The devices, processes and memory that networks run on. */
export interface ExecutorOptions {
  /** Child processes of each model on each device. */
  children: number;
  /** Threads of one ONNX Runtime session. */
  threads: number;
  /** Default: the CPU. */
  devices?: readonly Device[];
  /** Environment variables that the devices' libraries need. */
  deviceEnvironment?: Readonly<Record<string, string>>;
  /** Megabytes that the loaded models may need together; no limit when null or omitted. */
  memoryMb?: number | null;
  /** Memory that one child process may allocate beyond what it holds when warm; no limit when 0 or omitted. */
  workingMemoryBytes?: number;
  /** Longest warm-up of a release; some minutes by default. */
  readyTimeoutMs?: number;
  /** How long a reload of the folder waits for a release that is loading. */
  patienceMs?: number;
  /** Receives runs and waiting times. */
  observer?: ExecutorObserver;
  /** Sends requests for networks on KServe servers; without it, models with such networks cannot run. */
  askServer?: AskServer;
}

export interface OnnxBackend extends BundleBackend {
  installedEndpoints(): readonly InstalledEndpoint[];
  trial(endpoint: string): Trial | null;
  /** Applies changes in the folder of models: see `ModelHost.reload`. */
  reload(options?: { now?: boolean }): Promise<void>;
  /** Process ids of all running children. */
  readonly pids: readonly number[];
  /** Versions of the loaded releases. */
  readonly loaded: readonly string[];
}

/** Share of an attempt's time that a process may compute. The rest is for jobs that wait behind an endless computation. */
const COMPUTING_SHARE = 3 / 4;

/** Describes the files of a result that nobody sees, and stores none. */
const describeOnly = createArtefactWriter({
  store: { put: async () => {} },
  signedUrls: createSignedUrls('http://unseen.invalid', ''),
});

/** Never falls back to the CPU when a configured GPU is missing. @throws Error when a device does not work */
export async function createOnnxBackend(options: OnnxBackendOptions): Promise<OnnxBackend> {
  const { logger, store, devices = [CPU], deviceEnvironment: environment = {}, decodesVideos = true } = options;
  await Promise.all(devices.map((device) => requireDevice(device, environment)));
  const host = await ModelHost.start({
    ...options,
    devices,
    environment,
    processes: options.children,
    memoryMb: options.memoryMb ?? null,
    installedBundles: (versions) => installedBundles(options.endpoints, options.endpointsDirectory, versions),
  });
  const check = createResultCheck(options.endpoints);
  const contracts = new Map(options.endpoints.map((contract) => [contract.slug, contract]));
  // Decoding a video or encoding a film occupies a processor for a minute.
  const inTurn = createTurns(options.children);

  const infer: OnnxBackend['infer'] = async (request, { signal, readResult = async () => null, waitMs, isUnseen }) => {
    const { jobId, endpoint, inputs, reservedCredits } = request;
    signal.throwIfAborted();
    const version = request.modelVersion ?? host.modelVersion(request);
    try {
      const definition = await importPipeline(pipelineUrl(options.endpointsDirectory, endpoint));
      const parameters = (await definition.withReferences?.(request.parameters, readResult)) ?? request.parameters;
      const further = definition.furtherInputs?.(parameters) ?? [];
      const { inferenceTimeoutMs } = contracts.get(endpoint) ?? {};
      const timeoutMs = inferenceTimeoutMs && inferenceTimeoutMs * COMPUTING_SHARE;
      const task = { endpoint, parameters, waitMs, timeoutMs };
      const made = await withFiles([...inputs, ...further], { endpoint, signal }, (files) =>
        host.run(version, { ...task, files }, signal),
      );
      const filmed = await encodeFilms(made, (film) => inTurn(signal, () => encode(film, signal)));
      const result = await storeFiles(filmed, isUnseen ? describeOnly : options.writeArtefact);
      const problem = check(endpoint, result);
      if (problem === null) {
        return succeeded(result, Math.round(reservedCredits * (definition.chargedShare?.(result) ?? 1)));
      }
      logger.error({ jobId, endpoint, modelVersion: version, problem }, 'a pipeline gave an invalid result');
      return invalidResult();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (!error.retryable) return failed(error);
      logger.warn({ jobId, endpoint, modelVersion: version, err: error }, 'an inference attempt failed');
      throw error;
    }
  };

  /** One picture travels with its task; of many, each is read when the child decodes it. A video becomes pictures. */
  async function withFiles(
    inputs: readonly JobInput[],
    { endpoint, signal }: { endpoint: string; signal: AbortSignal },
    use: (files: TaskFile[]) => Promise<unknown>,
  ): Promise<unknown> {
    const [only] = inputs;
    if (!only || inputs.length > 1) {
      return use(inputs.map((input) => ({ mediaType: input.mediaType, content: () => readInput(store, input) })));
    }
    if (!isVideo(only)) return use([{ mediaType: only.mediaType, content: await readInput(store, only) }]);
    const most = contracts.get(endpoint)?.files.maximum ?? 1;
    return withFrameFolder(async (folder) => use(await takeFrames(only, { most, folder, signal })));
  }

  /** As many frames as the endpoint takes pictures. */
  async function takeFrames(
    { storageKey, field }: JobInput,
    { most, folder, signal }: { most: number; folder: string; signal: AbortSignal },
  ): Promise<TaskFile[]> {
    const { bundleFiles } = options;
    if (!bundleFiles) throw new Error('this worker has no bundleFiles');
    const watch = (path: string) => watchVideo(path, { signal }, (video) => keepSharpestFrames(video, most, folder));
    try {
      const frames = await inTurn(signal, () => bundleFiles.withFile(storageKey, watch));
      return frames.map(({ path, timeOffsetMs }) => ({
        mediaType: 'image/jpeg',
        timeOffsetMs,
        content: () => readFile(path),
      }));
    } catch (error) {
      throw isOfStore(error) ? errorOfStore(error, field) : error;
    }
  }

  return {
    modelVersion: (job) => {
      // Bundles say by stage what decodes videos.
      const isInStages = contracts.get(job.endpoint)?.stagePlan !== undefined;
      if (!decodesVideos && !isInStages && job.inputs?.some(isVideo)) {
        throw new ServiceError('model_unavailable', `This worker decodes no videos for ${job.endpoint}.`);
      }
      return host.modelVersion(job);
    },
    installedEndpoints: () => host.installedEndpoints(),
    trial: (endpoint) => host.trial(endpoint),
    reload: (how) => host.reload(how),
    get pids() {
      return host.pids;
    },
    get loaded() {
      return host.loaded;
    },
    infer,
    bundles: createLiveRunner({
      ...options,
      check,
      infer,
      serves: (slug) => host.installedEndpoints().some(({ endpoint }) => endpoint === slug),
    }),
    close: () => host.close(),
  };
}

function encode({ pictures, edits, ...film }: DrawnFilm, signal: AbortSignal): Promise<Uint8Array> {
  const plan = { ...film, pictures: pictures.length, packet: provenancePacket(edits) };
  return encodeFilm(
    plan,
    pictures.map(({ content }) => content),
    { signal },
  );
}

async function storeFiles(result: unknown, writeArtefact: WriteArtefact): Promise<unknown> {
  try {
    return await storeMadeFiles(result, writeArtefact);
  } catch (error) {
    throw new ServiceError('service_unavailable', 'The file store cannot be reached.', { cause: error });
  }
}

function isVideo({ mediaType }: JobInput): boolean {
  return mediaType.startsWith('video/');
}

async function readInput(store: Pick<ObjectStore, 'get'>, { storageKey, field }: JobInput): Promise<Uint8Array> {
  try {
    return await store.get(storageKey);
  } catch (error) {
    throw errorOfStore(error, field);
  }
}
