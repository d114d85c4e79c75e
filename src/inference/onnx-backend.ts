/** Live and staging jobs: the installed models, run by ONNX Runtime in child processes. */
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobInput } from '../contracts/job.ts';
import { ServiceError } from '../domain/service-error.ts';
import { ObjectNotFoundError, type ObjectStore } from '../storage/object-store.ts';
import type { WriteArtefact } from './artefacts.ts';
import type { InstalledEndpoint, StagedBackend } from './backend.ts';
import { importPipeline, pipelineUrl } from './endpoint-folder.ts';
import { CPU, type Device } from './executors/devices.ts';
import type { ExecutorObserver } from './executors/model-pools.ts';
import { requireDevice } from './executors/require-device.ts';
import { createLiveStages } from './live-stages.ts';
import type { LiveFiles } from './live-tools.ts';
import type { Log } from './log.ts';
import { storeMadeFiles } from './made-files.ts';
import { ModelHost } from './model-host.ts';
import { failed, invalidResult, succeeded } from './outcomes.ts';
import type { AskServer } from './remote/kserve-servers.ts';
import { createResultCheck } from './result-check.ts';

export interface OnnxBackendOptions extends ExecutorOptions {
  modelsDirectory: string;
  store: Pick<ObjectStore, 'get'>;
  /** The same store, for what bundles do with videos and the pictures they take of them. */
  liveFiles?: LiveFiles;
  /** Stores the files that results show. */
  writeArtefact: WriteArtefact;
  logger: Log;
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  /** Pause before a lost child process is replaced, and how long an abandoned one may go on. */
  restartDelayMs?: number;
  graceMs?: number;
  /** Milliseconds of a clock that never goes back: tells how long a release has not been used. */
  clock?: () => number;
}

/** Where networks run, and on how much. */
export interface ExecutorOptions {
  /** Child processes of each model on each device. */
  children: number;
  /** Threads of one ONNX Runtime session. */
  threads: number;
  /** The CPU, unless something else is said. */
  devices?: readonly Device[];
  /** Environment of the child processes: what the libraries of the devices need. */
  deviceEnvironment?: Readonly<Record<string, string>>;
  /** Megabytes that the loaded models may need together; no bound when left out or null. */
  memoryMb?: number | null;
  /** Most that one child process may take for its work, beyond what it holds when it is warm; 0 or left out for no bound. */
  workingMemoryBytes?: number;
  /** How long a release may take until it is warm: some minutes, unless something else is said. */
  readyTimeoutMs?: number;
  /** How long a look at the folder of models waits for a release that loads. */
  patienceMs?: number;
  /** Told what is run, and how long it waited. */
  observer?: ExecutorObserver;
  /** Asks a server for networks that are not here; without it, a model that has such cannot be run. */
  askServer?: AskServer;
}

export interface OnnxBackend extends StagedBackend {
  installedEndpoints(): readonly InstalledEndpoint[];
  /** Takes up what has changed in the folder of models: see `ModelHost.reload`. */
  reload(options?: { now?: boolean }): Promise<void>;
  /** Process ids of the children that run now. */
  readonly pids: readonly number[];
  /** Versions of the releases that are in memory. */
  readonly loaded: readonly string[];
}

/**
 * Of the time that an attempt has, what a process may compute for it: what waits behind a picture that no network comes to an
 * end with has the rest.
 */
const COMPUTING_SHARE = 3 / 4;

/** @throws Error when a device does not work: a GPU that was asked for and is not there is not made up for by the CPU */
export async function createOnnxBackend(options: OnnxBackendOptions): Promise<OnnxBackend> {
  const { logger, store, devices = [CPU], deviceEnvironment: environment = {} } = options;
  await Promise.all(devices.map((device) => requireDevice(device, environment)));
  const host = await ModelHost.start({
    ...options,
    devices,
    environment,
    processes: options.children,
    memoryMb: options.memoryMb ?? null,
  });
  const check = createResultCheck(options.endpoints);
  const timeoutsMs = new Map(
    options.endpoints.map(({ slug, inferenceTimeoutMs }) => [slug, inferenceTimeoutMs * COMPUTING_SHARE]),
  );

  const infer: OnnxBackend['infer'] = async (request, { signal, readResult = async () => null, waitMs }) => {
    const { jobId, endpoint, inputs, reservedCredits } = request;
    signal.throwIfAborted();
    const version = request.modelVersion ?? host.modelVersion(request);
    try {
      const files = await Promise.all(inputs.map((input) => readInput(store, input)));
      const definition = await importPipeline(pipelineUrl(options.endpointsDirectory, endpoint));
      const parameters = (await definition.withReferences?.(request.parameters, readResult)) ?? request.parameters;
      const task = { endpoint, files, parameters, waitMs, timeoutMs: timeoutsMs.get(endpoint) };
      const made = await host.run(version, task, signal);
      const result = await storeFiles(made, options.writeArtefact);
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

  return {
    modelVersion: (job) => host.modelVersion(job),
    installedEndpoints: () => host.installedEndpoints(),
    reload: (how) => host.reload(how),
    get pids() {
      return host.pids;
    },
    get loaded() {
      return host.loaded;
    },
    infer,
    staged: createLiveStages({ ...options, check, infer }),
    close: () => host.close(),
  };
}

async function storeFiles(result: unknown, writeArtefact: WriteArtefact): Promise<unknown> {
  try {
    return await storeMadeFiles(result, writeArtefact);
  } catch (error) {
    throw new ServiceError('service_unavailable', 'The file store cannot be reached.', { cause: error });
  }
}

async function readInput(store: Pick<ObjectStore, 'get'>, { storageKey, field }: JobInput): Promise<Uint8Array> {
  try {
    return await store.get(storageKey);
  } catch (error) {
    if (error instanceof ObjectNotFoundError) {
      const message = 'The file of this job is no longer stored. Send it again.';
      throw new ServiceError('input_unreadable', message, { param: field, cause: error });
    }
    throw new ServiceError('service_unavailable', 'The file store cannot be reached.', { cause: error });
  }
}
