/** Live and staging jobs: the installed models, run by ONNX Runtime in child processes. */

import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { BundleBackend, InstalledEndpoint } from '../../contracts/inference-backend.ts';
import type { JobInput } from '../../contracts/job.ts';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../platform/storage/object-store.ts';
import { createLiveRunner } from '../bundles/live-runner.ts';
import { installedBundles } from '../bundles/plan.ts';
import type { BundleFiles } from '../bundles/tools.ts';
import { CPU, type Device } from '../runtime/devices.ts';
import type { AskServer } from '../runtime/kserve/kserve-servers.ts';
import { ModelHost } from '../runtime/model-host.ts';
import type { ExecutorObserver } from '../runtime/model-pools.ts';
import { requireDevice } from '../runtime/require-device.ts';
import { importPipeline, pipelineUrl } from '../toolkit/endpoint-folder.ts';
import { storeMadeFiles } from '../toolkit/images/made-pictures.ts';
import { failed, invalidResult, succeeded } from '../toolkit/outcomes.ts';
import { createResultCheck } from '../toolkit/result-check.ts';

export interface OnnxBackendOptions extends ExecutorOptions {
  modelsDirectory: string;
  store: Pick<ObjectStore, 'get'>;
  /** The same store, for the videos of bundles and the frames taken from them. */
  bundleFiles?: BundleFiles;
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
  /** Applies changes in the folder of models: see `ModelHost.reload`. */
  reload(options?: { now?: boolean }): Promise<void>;
  /** Process ids of all running children. */
  readonly pids: readonly number[];
  /** Versions of the loaded releases. */
  readonly loaded: readonly string[];
}

/** Share of an attempt's time that a process may compute. The rest is for jobs that wait behind an endless computation. */
const COMPUTING_SHARE = 3 / 4;

/** Never falls back to the CPU when a configured GPU is missing. @throws Error when a device does not work */
export async function createOnnxBackend(options: OnnxBackendOptions): Promise<OnnxBackend> {
  const { logger, store, devices = [CPU], deviceEnvironment: environment = {} } = options;
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
    bundles: createLiveRunner({
      ...options,
      check,
      infer,
      serves: (slug) => host.installedEndpoints().some(({ endpoint }) => endpoint === slug),
    }),
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
