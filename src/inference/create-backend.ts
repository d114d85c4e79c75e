/** Composes the backend of an inference worker: live and staging jobs on ONNX Runtime, test jobs on fixtures. */
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import { endpoints } from '../endpoints/list.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { WriteArtefact } from './artefacts.ts';
import type { InferenceBackend, InstalledEndpoint } from './backend.ts';
import { createFixtureBackend } from './fixture-backend.ts';
import type { Log } from './log.ts';
import { createOnnxBackend } from './onnx-backend.ts';

export interface BackendOptions {
  /** Folder of `<model>/<release date>/model.json`. */
  modelsDirectory: string;
  /** Where the jobs' input files lie. */
  store: Pick<ObjectStore, 'get'>;
  /** Stores the files that results show. */
  writeArtefact: WriteArtefact;
  /** Child processes that run inference, each one job at a time. */
  children: number;
  /** Threads of one ONNX Runtime session. */
  threads: number;
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
    close: async () => {
      await Promise.all([onnx.close(), fixture.close()]);
    },
  };
}
