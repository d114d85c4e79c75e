/** Composes the backend of an inference worker: live and staging jobs on ONNX Runtime, test jobs on fixtures. */
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import { endpoints } from '../endpoints/list.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { WriteArtefact } from './artefacts.ts';
import type { InferenceBackend, InstalledEndpoint } from './backend.ts';
import { createFixtureBackend } from './fixture-backend.ts';
import type { LiveFiles } from './live-tools.ts';
import type { Log } from './log.ts';
import { createOnnxBackend, type ExecutorOptions } from './onnx-backend.ts';

export interface BackendOptions extends ExecutorOptions {
  /** Folder of `<model>/<release date>/model.json`. */
  modelsDirectory: string;
  /** Where the jobs' input files lie. */
  store: Pick<ObjectStore, 'get'>;
  /** The same store, for what bundles do with videos and the pictures they take of them. */
  liveFiles?: LiveFiles;
  /** Stores the files that results show. */
  writeArtefact: WriteArtefact;
  logger: Log;
  /** How long the `slow` scenario takes: 30 s unless a test says otherwise. */
  slowScenarioMs?: number;
  /** The endpoints served and the folder of their folders: all of the service, unless a test says otherwise. */
  endpoints?: readonly EndpointContract[];
  endpointsDirectory?: URL;
}

export interface Backend extends InferenceBackend {
  /** What live mode can answer now: for announcing availability. */
  installedEndpoints(): readonly InstalledEndpoint[];
  /**
   * Takes up what has changed in the folder of models, and resolves when what is new answers.
   * @param now also what was written a moment ago, and what did not run the last time
   * @throws Error when the folder cannot be read: everything then stays as it was
   */
  reload(options?: { now?: boolean }): Promise<void>;
}

/**
 * Resolves when every child process is warm. A damaged or missing model is logged with the reason and leaves its
 * endpoints out of `installedEndpoints`; the others work.
 */
export async function createBackend(options: BackendOptions): Promise<Backend> {
  const served = {
    endpoints: options.endpoints ?? endpoints,
    endpointsDirectory: options.endpointsDirectory ?? new URL('../endpoints/', import.meta.url),
  };
  const fixture = createFixtureBackend({ ...options, ...served });
  const onnx = await createOnnxBackend({ ...options, ...served });
  const backendFor = (job: { livemode: boolean }) => (job.livemode ? onnx : fixture);
  const stagedFor = (job: { livemode: boolean }) => backendFor(job).staged;
  return {
    modelVersion: (job) => backendFor(job).modelVersion(job),
    infer: (request, context) => backendFor(request).infer(request, context),
    staged: {
      plan: (request, context) => stagedFor(request).plan(request, context),
      runUnits: (request, range, context) => stagedFor(request).runUnits(request, range, context),
      compose: (request, ended) => stagedFor(request).compose(request, ended),
    },
    installedEndpoints: () => onnx.installedEndpoints(),
    reload: (how) => onnx.reload(how),
    close: async () => {
      await Promise.all([onnx.close(), fixture.close()]);
    },
  };
}
