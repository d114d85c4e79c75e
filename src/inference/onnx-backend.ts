/** Live and staging jobs: the installed models, run by ONNX Runtime in child processes. */
import { existsSync } from 'node:fs';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobInput } from '../contracts/job.ts';
import { ServiceError } from '../domain/service-error.ts';
import { ObjectNotFoundError, type ObjectStore } from '../storage/object-store.ts';
import type { WriteArtefact } from './artefacts.ts';
import type { InstalledEndpoint, StagedBackend } from './backend.ts';
import { importPipeline, pipelineUrl } from './endpoint-folder.ts';
import { ChildPool } from './executors/child-pool.ts';
import type { ServedEndpoint } from './executors/messages.ts';
import { createLiveStages, installedBundles } from './live-stages.ts';
import type { Log } from './log.ts';
import { storeMadeFiles } from './made-files.ts';
import { versionOf } from './models/manifest.ts';
import { loadModelRegistry } from './models/registry.ts';
import { failed, invalidResult, succeeded } from './outcomes.ts';
import { createResultCheck } from './result-check.ts';

export interface OnnxBackendOptions {
  modelsDirectory: string;
  store: Pick<ObjectStore, 'get'>;
  /** Stores the files that results show. */
  writeArtefact: WriteArtefact;
  children: number;
  threads: number;
  logger: Log;
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  /** Pause before a lost child process is replaced, and how long an abandoned one may go on. */
  restartDelayMs?: number;
  graceMs?: number;
}

export interface OnnxBackend extends StagedBackend {
  installedEndpoints(): readonly InstalledEndpoint[];
  /** Process ids of the children that run now. */
  readonly pids: readonly number[];
}

export async function createOnnxBackend(options: OnnxBackendOptions): Promise<OnnxBackend> {
  const { logger, store } = options;
  const served = await endpointsWithModels(options);
  // Without a model there is nothing to run, and no reason for processes.
  const pool = served.length > 0 ? new ChildPool({ ...options, endpoints: served }) : null;
  const versions = new Map(served.map(({ endpoint, model }) => [endpoint, versionOf(model.manifest)]));
  try {
    for (const { endpoint, reason } of (await pool?.ready) ?? []) {
      logger.error({ endpoint, reason }, 'an endpoint cannot be served: its model does not run');
      versions.delete(endpoint);
    }
  } catch (error) {
    await pool?.close();
    throw error;
  }
  for (const [bundle, version] of await installedBundles(options.endpoints, options.endpointsDirectory, versions)) {
    versions.set(bundle, version);
  }
  const check = createResultCheck(options.endpoints);

  const modelVersion = ({ endpoint }: { endpoint: string }): string => {
    const version = versions.get(endpoint);
    if (!version) throw new ServiceError('model_unavailable', `No model is installed for ${endpoint}.`);
    return version;
  };

  const infer: OnnxBackend['infer'] = async ({ jobId, endpoint, inputs, parameters, reservedCredits }, { signal }) => {
    signal.throwIfAborted();
    const version = modelVersion({ endpoint });
    try {
      const files = await Promise.all(inputs.map((input) => readInput(store, input)));
      const made = await pool?.run({ endpoint, files, parameters }, signal);
      const result = await storeFiles(made, options.writeArtefact);
      const problem = check(endpoint, result);
      if (problem === null) return succeeded(result, reservedCredits);
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
    modelVersion,
    installedEndpoints: () => [...versions].map(([endpoint, version]) => ({ endpoint, modelVersion: version })),
    get pids() {
      return pool?.pids ?? [];
    },
    infer,
    staged: createLiveStages({ ...options, check, infer }),
    close: async () => pool?.close(),
  };
}

/** The endpoints whose pipeline and models are present and valid; the rest are logged with the reason. */
async function endpointsWithModels(options: OnnxBackendOptions): Promise<ServedEndpoint[]> {
  const { logger } = options;
  const registry = await loadModelRegistry(options.modelsDirectory, logger);
  const served: ServedEndpoint[] = [];
  const withoutPipeline: string[] = [];
  const tasks = new Set<string>();
  for (const { slug: endpoint } of options.endpoints) {
    const url = pipelineUrl(options.endpointsDirectory, endpoint);
    if (!existsSync(url)) {
      withoutPipeline.push(endpoint);
      continue;
    }
    try {
      const { task } = await importPipeline(url);
      tasks.add(task);
      const [model] = registry.forTask(task);
      if (!model) throw new Error(`no model with the task ${task} is installed`);
      served.push({ endpoint, pipelineUrl: url.href, model });
    } catch (error) {
      logger.warn({ endpoint, reason: (error as Error).message }, 'an endpoint cannot be served in live mode');
    }
  }
  if (withoutPipeline.length > 0) {
    logger.info({ endpoints: withoutPipeline }, 'endpoints without a pipeline answer in test mode only');
  }
  for (const { model, release, task } of registry.idle(tasks)) {
    logger.warn({ model, release, task }, 'no endpoint asks for models with this task');
  }
  return served;
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
