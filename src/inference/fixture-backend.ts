/** Test mode: finished answers from the endpoint's `fixtures/`, through the same steps as live mode, without a model. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobInput } from '../contracts/job.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { WriteArtefact } from './artefacts.ts';
import type { InferenceBackend } from './backend.ts';
import { applyParametersUrl } from './endpoint-folder.ts';
import { endAs } from './fixture-end.ts';
import { readFixture, readFixtureEnd } from './fixture-files.ts';
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

/** Changes whenever the fixtures of any endpoint do. */
const FIXTURE_VERSION = 'fixture@2026-11-21';

/** The `slow` scenario's "about 30 s": no shorter, so that `wait=true` with its ceiling of 30 s answers 202. */
export const SLOW_SCENARIO_MS = 31_000;

/** Makes a finished result follow the request's parameters and, where it depends on them, its files. */
type ApplyParameters = (
  result: unknown,
  parameters: Readonly<Record<string, unknown>>,
  inputs: readonly JobInput[],
) => unknown;

export function createFixtureBackend(options: FixtureBackendOptions): InferenceBackend {
  const { logger, endpointsDirectory, writeArtefact, slowScenarioMs = SLOW_SCENARIO_MS } = options;
  const check = createResultCheck(options.endpoints);
  const contracts = new Map(options.endpoints.map((contract) => [contract.slug, contract]));
  const closing = new AbortController();

  return {
    modelVersion: () => FIXTURE_VERSION,
    infer: async (request, { signal }) => {
      const { jobId, endpoint, testScenario, parameters, inputs, reservedCredits } = request;
      signal.throwIfAborted();
      if (testScenario === 'model_error') {
        return failed(
          new ServiceError('model_inference_failed', 'The test scenario model_error asked for this failure.'),
        );
      }
      if (testScenario === 'slow') await pause(slowScenarioMs, signal, closing.signal);

      const scenario = testScenario === null || testScenario === 'slow' ? 'default' : testScenario;
      const fixture = await readFixture(endpointsDirectory, endpoint, scenario, writeArtefact);
      const apply = await loadApplyParameters(endpointsDirectory, endpoint);
      const result = apply(fixture, parameters, inputs);
      const problem = check(endpoint, result);
      if (problem === null) {
        const end = await readFixtureEnd(endpointsDirectory, endpoint, scenario);
        const contract = contracts.get(endpoint);
        if (!end || !contract) return succeeded(result, reservedCredits);
        return endAs(end, result, { request, endpoint: contract, now: new Date() });
      }
      logger.error({ jobId, endpoint, scenario, problem }, 'a fixture gives an invalid result');
      return invalidResult();
    },
    close: async () => closing.abort(),
  };
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
