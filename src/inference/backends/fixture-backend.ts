/** Test mode: results from the endpoint's `fixtures/`, through the same steps as live mode but without a model. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { BundleBackend, InferenceContext, InferenceRequest } from '../../contracts/inference-backend.ts';
import type { JobInput } from '../../contracts/job.ts';
import { FIXTURE_VERSION } from '../../contracts/model-versions.ts';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import { findIncompleteInput } from '../../uploads/incomplete-input.ts';
import { createFixtureRunner, failureOf, type PauseIfSlow } from '../bundles/fixture-runner.ts';
import {
  applyParametersUrl,
  chargedShareUrl,
  importOptional,
  referencesUrl,
  reportUrl,
} from '../toolkit/endpoint-folder.ts';
import { failed, invalidResult, succeeded } from '../toolkit/outcomes.ts';
import { createResultCheck } from '../toolkit/result-check.ts';
import { readFixture, readFixtureOutcome, storeFixtureFiles } from './fixture-files.ts';

export interface FixtureBackendOptions {
  logger: Log;
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  /** Stores the files of fixtures. */
  writeArtefact: WriteArtefact;
  /** Holds the jobs' input files. Absent: every file counts as complete. */
  inputFiles?: Pick<ObjectStore, 'stream'> | undefined;
  /** How long the `slow` scenario takes. */
  slowScenarioMs?: number;
}

/** Longer than the 30 s limit of `wait=true`, which then returns 202. */
export const SLOW_SCENARIO_MS = 31_000;

type RequestParameters = Readonly<Record<string, unknown>>;
type ReadResult = NonNullable<InferenceContext['readResult']>;

/** Adapts a fixture's result to the request's parameters and, if it depends on them, its files. */
type ApplyParameters = (result: unknown, parameters: RequestParameters, inputs: readonly JobInput[]) => unknown;

/** Adds the results of the jobs that the parameters name. @throws ServiceError if one has been deleted */
type WithReferences = (parameters: RequestParameters, readResult: ReadResult) => Promise<RequestParameters>;

/** Adds the report that the request asks for. */
type WithReport = (result: unknown, parameters: RequestParameters, write: WriteArtefact) => Promise<unknown>;

export function createFixtureBackend(options: FixtureBackendOptions): BundleBackend {
  const { logger, endpointsDirectory, writeArtefact, inputFiles, slowScenarioMs = SLOW_SCENARIO_MS } = options;
  const check = createResultCheck(options.endpoints);
  const closing = new AbortController();

  const readResult = async (
    request: InferenceRequest,
    write: WriteArtefact,
    readOther: ReadResult = async () => null,
  ): Promise<unknown> => {
    const { endpoint, inputs } = request;
    const fixture = await readFixture(endpointsDirectory, endpoint, scenarioOf(request));
    const withReferences = await loadWithReferences(endpointsDirectory, endpoint);
    const parameters = await withReferences(request.parameters, readOther);
    const result = (await loadApplyParameters(endpointsDirectory, endpoint))(fixture, parameters, inputs);
    // Only the files of the requested variant are stored.
    const stored = await storeFixtureFiles(result, write);
    return (await loadWithReport(endpointsDirectory, endpoint))(stored, parameters, write);
  };
  const readOutcome = (request: InferenceRequest) =>
    readFixtureOutcome(endpointsDirectory, request.endpoint, scenarioOf(request));
  const findUnreadable = async ({ inputs }: InferenceRequest): Promise<ServiceError | null> => {
    const incomplete = inputFiles && (await findIncompleteInput(inputFiles, inputs).catch(failTransiently));
    if (!incomplete) return null;
    return new ServiceError('input_unreadable', incomplete.message, { param: incomplete.input.field });
  };
  const pauseIfSlow: PauseIfSlow = async ({ testScenario }, signal, until = { since: new Date(), share: 1 }) => {
    const leftMs = until.since.getTime() + slowScenarioMs * until.share - Date.now();
    if (testScenario === 'slow' && leftMs > 0) await pause(leftMs, signal, closing.signal);
  };

  return {
    modelVersion: () => FIXTURE_VERSION,
    infer: async (request, { signal, readResult: readOther }) => {
      const { jobId, endpoint, testScenario, reservedCredits } = request;
      signal.throwIfAborted();
      const failure = failureOf(testScenario) ?? (await findUnreadable(request));
      if (failure) return failed(failure);
      await pauseIfSlow(request, signal);

      const result = await readResult(request, writeArtefact, readOther).catch(toFailure);
      if (result instanceof ServiceError) return failed(result);
      const problem = check(endpoint, result);
      if (problem === null) {
        const chargedShare = await loadChargedShare(endpointsDirectory, endpoint);
        return succeeded(result, Math.round(reservedCredits * chargedShare(result)));
      }
      logger.error({ jobId, endpoint, scenario: scenarioOf(request), problem }, 'a fixture gave an invalid result');
      return invalidResult();
    },
    bundles: createFixtureRunner({ ...options, check, readResult, readOutcome, findUnreadable, pauseIfSlow }),
    close: async () => closing.abort(),
  };
}

function scenarioOf({ testScenario }: InferenceRequest): string {
  return testScenario === null || testScenario === 'slow' ? 'default' : testScenario;
}

async function pause(durationMs: number, signal: AbortSignal, closing: AbortSignal): Promise<void> {
  try {
    await sleep(durationMs, undefined, { signal: AbortSignal.any([signal, closing]) });
  } catch {
    signal.throwIfAborted();
    throw new ServiceError('model_inference_failed', 'The worker is shutting down. Send the request again.');
  }
}

function failTransiently(cause: unknown): never {
  throw new ServiceError('service_unavailable', 'The file store cannot be reached.', { cause });
}

/** What another attempt cannot mend ends the job. */
function toFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError && !error.retryable) return error;
  throw error;
}

async function loadWithReferences(endpointsDirectory: URL, endpoint: string): Promise<WithReferences> {
  const module = await importOptional<{ withReferences: WithReferences }>(referencesUrl(endpointsDirectory, endpoint));
  return module.withReferences ?? (async (parameters) => parameters);
}

async function loadWithReport(endpointsDirectory: URL, endpoint: string): Promise<WithReport> {
  const module = await importOptional<{ withReport: WithReport }>(reportUrl(endpointsDirectory, endpoint));
  return module.withReport ?? (async (result) => result);
}

async function loadChargedShare(endpointsDirectory: URL, endpoint: string): Promise<(result: unknown) => number> {
  const module = await importOptional<{ chargedShare: (result: unknown) => number }>(
    chargedShareUrl(endpointsDirectory, endpoint),
  );
  return module.chargedShare ?? (() => 1);
}

async function loadApplyParameters(endpointsDirectory: URL, endpoint: string): Promise<ApplyParameters> {
  const module = await importOptional<{ applyParameters: ApplyParameters }>(
    applyParametersUrl(endpointsDirectory, endpoint),
  );
  return module.applyParameters ?? ((result) => result);
}
