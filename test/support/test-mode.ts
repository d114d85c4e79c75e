/** Computes the result of test mode for a request, without a server. */
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import type { InferenceOutcome, JobInput } from '../../src/contracts/job.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { createFixtureBackend } from '../../src/inference/backends/fixture-backend.ts';
import { standInArtefacts } from '../inference/support/tiny-endpoint.ts';
import { inferWhole } from './bundles.ts';

interface TestModeRequest {
  scenario?: string;
  parameters?: Record<string, unknown>;
  /** One entry for each file sent. */
  mediaTypes?: readonly string[];
  /** Results of other jobs, by id. */
  results?: Readonly<Record<string, unknown>>;
}

const backend = createFixtureBackend({
  logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  endpoints,
  endpointsDirectory: new URL('../../src/endpoints/', import.meta.url),
  writeArtefact: standInArtefacts,
  slowScenarioMs: 1,
});

/** The outcome as it would be settled; the hold is the endpoint's price for the request. */
export async function testModeOutcome<Result>(
  endpoint: EndpointContract,
  { scenario, parameters = {}, mediaTypes = ['image/jpeg'], results = {} }: TestModeRequest = {},
): Promise<Omit<InferenceOutcome, 'result'> & { result: Result; reservedCredits: number }> {
  const inputs = mediaTypes.map(
    (mediaType, index): JobInput => ({
      field: endpoint.files.field,
      storageKey: `inputs/${index}`,
      mediaType,
      bytes: 1,
      sha256: '',
      uploadId: null,
    }),
  );
  const reservedCredits = endpoint.price?.({ parameters, files: inputs }) ?? endpoint.priceCredits;
  const request = {
    jobId: 'job_1111111111111111111111',
    endpoint: endpoint.slug,
    livemode: false,
    testScenario: scenario ?? null,
    parameters,
    inputs,
    reservedCredits,
  };
  const outcome = await inferWhole(backend, endpoint, request, async (jobId) => results[jobId] ?? null);
  return { ...outcome, result: outcome.result as Result, reservedCredits };
}
