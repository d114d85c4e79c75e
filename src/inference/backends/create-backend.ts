/** Composes the backend of an inference worker: live and staging jobs on ONNX Runtime, test jobs on fixtures. */

import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { InferenceBackend, InstalledEndpoint } from '../../contracts/inference-backend.ts';
import type { ReleaseChoice } from '../../contracts/release-choice.ts';
import { endpoints } from '../../endpoints/list.ts';
import type { Log } from '../../platform/logging/log.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import type { BundleFiles } from '../bundles/tools.ts';
import { createFixtureBackend } from './fixture-backend.ts';
import { createOnnxBackend, type ExecutorOptions } from './onnx-backend.ts';

export interface BackendOptions extends ExecutorOptions {
  /** Folder of `<model>/<release date>/model.json`. */
  modelsDirectory: string;
  /** Holds the jobs' input files. */
  store: Pick<ObjectStore, 'get'>;
  /** The same store, for the videos of bundles and the frames taken from them. */
  bundleFiles?: BundleFiles;
  /** The same store, to check the files of test jobs. */
  inputFiles?: Pick<ObjectStore, 'stream'>;
  /** Answers the endpoints that use price books, for the stages of bundles. */
  inferByBooks?: InferenceBackend['infer'];
  /** Stores the files of results. */
  writeArtefact: WriteArtefact;
  logger: Log;
  /** Whether the package that decodes videos works here. True when omitted. */
  decodesVideos?: boolean;
  /** The releases that an operator chose, by endpoint; read before each check of the folder. None when omitted. */
  readChoices?: () => Promise<ReadonlyMap<string, ReleaseChoice>>;
  /** How long the `slow` scenario takes: 31 s unless a test says otherwise. */
  slowScenarioMs?: number;
  /** Endpoints to serve and the folder that contains theirs; by default all of the service's. */
  endpoints?: readonly EndpointContract[];
  endpointsDirectory?: URL;
}

export interface Backend extends InferenceBackend {
  /** Endpoints that live mode can serve now. */
  installedEndpoints(): readonly InstalledEndpoint[];
  /**
   * Applies changes in the folder of models and of the operator's choices. Resolves when new releases serve.
   * @param now reads releases even if their files were written a moment ago, and retries those that did not run
   * @throws Error when the folder or the choices cannot be read; nothing changes then
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
    endpointsDirectory: options.endpointsDirectory ?? new URL('../../endpoints/', import.meta.url),
  };
  const fixture = createFixtureBackend({ ...options, ...served });
  const onnx = await createOnnxBackend({ ...options, ...served });
  const backendFor = (job: { livemode: boolean }) => (job.livemode ? onnx : fixture);
  const bundlesFor = (job: { livemode: boolean }) => backendFor(job).bundles;
  return {
    modelVersion: (job) => backendFor(job).modelVersion(job),
    infer: (request, context) => backendFor(request).infer(request, context),
    bundles: {
      plan: (request, context) => bundlesFor(request).plan(request, context),
      runUnits: (request, range, context) => bundlesFor(request).runUnits(request, range, context),
      compose: (request, ended) => bundlesFor(request).compose(request, ended),
    },
    trial: (endpoint) => onnx.trial(endpoint),
    installedEndpoints: () => onnx.installedEndpoints(),
    reload: (how) => onnx.reload(how),
    close: async () => {
      await Promise.all([onnx.close(), fixture.close()]);
    },
  };
}
