/** Test mode: finished answers from the endpoint's `fixtures/`, through the same steps as live mode, without a model. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobInput } from '../contracts/job.ts';
import { FIXTURE_VERSION } from '../contracts/model-versions.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { WriteArtefact } from './artefacts.ts';
import type { InferenceRequest, StagedBackend } from './backend.ts';
import { applyParametersUrl } from './endpoint-folder.ts';
import { endAs } from './fixture-end.ts';
import { readFixture, readFixtureEnd, storeFixtureFiles } from './fixture-files.ts';
import { createFixtureStages, modelError, type PauseIfSlow } from './fixture-stages.ts';
import type { Log } from './log.ts';
import { failed, invalidResult, succeeded } from './outcomes.ts';
import { createResultCheck } from './result-check.ts';

export interface FixtureBackendOptions {
  logger: Log;
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  /** Stores the files that fixtures show. */
  writeArtefact: WriteArtefact;
  /** How long the `slow` scenario takes. */
  slowScenarioMs?: number;
}

/** The `slow` scenario's "about 30 s": no shorter, so that `wait=true` with its ceiling of 30 s answers 202. */
export const SLOW_SCENARIO_MS = 31_000;

/** Makes a finished result follow the request's parameters and, where it depends on them, its files. */
type ApplyParameters = (
  result: unknown,
  parameters: Readonly<Record<string, unknown>>,
  inputs: readonly JobInput[],
) => unknown;

export function createFixtureBackend(options: FixtureBackendOptions): StagedBackend {
  const { logger, endpointsDirectory, writeArtefact, slowScenarioMs = SLOW_SCENARIO_MS } = options;
  const check = createResultCheck(options.endpoints);
  const closing = new AbortController();

  const readResult = async (request: InferenceRequest, write: WriteArtefact): Promise<unknown> => {
    const { endpoint, parameters, inputs } = request;
    const fixture = await readFixture(endpointsDirectory, endpoint, scenarioOf(request));
    const result = (await loadApplyParameters(endpointsDirectory, endpoint))(fixture, parameters, inputs);
    // Of the variants that a fixture holds, only the one that was asked for is stored.
    return storeFixtureFiles(result, write);
  };
  const readEnd = (request: InferenceRequest) =>
    readFixtureEnd(endpointsDirectory, request.endpoint, scenarioOf(request));
  const pauseIfSlow: PauseIfSlow = async ({ testScenario }, signal, until = { since: new Date(), share: 1 }) => {
    const leftMs = until.since.getTime() + slowScenarioMs * until.share - Date.now();
    if (testScenario === 'slow' && leftMs > 0) await pause(leftMs, signal, closing.signal);
  };

  return {
    modelVersion: () => FIXTURE_VERSION,
    infer: async (request, { signal }) => {
      const { jobId, endpoint, testScenario, reservedCredits } = request;
      signal.throwIfAborted();
      if (testScenario === 'model_error') return failed(modelError());
      await pauseIfSlow(request, signal);

      const result = await readResult(request, writeArtefact);
      const problem = check(endpoint, result);
      if (problem === null) {
        const end = await readEnd(request);
        return end ? endAs(end, result, reservedCredits) : succeeded(result, reservedCredits);
      }
      logger.error({ jobId, endpoint, scenario: scenarioOf(request), problem }, 'a fixture gives an invalid result');
      return invalidResult();
    },
    staged: createFixtureStages({ ...options, check, readResult, readEnd, pauseIfSlow }),
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

async function loadApplyParameters(endpointsDirectory: URL, endpoint: string): Promise<ApplyParameters> {
  const url = applyParametersUrl(endpointsDirectory, endpoint);
  if (!existsSync(url)) return (result) => result;
  return ((await import(url.href)) as { applyParameters: ApplyParameters }).applyParameters;
}
