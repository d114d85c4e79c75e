/** What test mode answers to a request, without a server. */
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import type { InferenceOutcome, JobInput } from '../../src/contracts/job.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { createFixtureBackend } from '../../src/inference/fixture-backend.ts';
import { standInArtefacts } from '../inference/tiny-endpoint.ts';
import { inferWhole } from './in-stages.ts';

interface TestModeRequest {
  scenario?: string;
  parameters?: Record<string, unknown>;
  /** Of each file that was sent. */
  mediaTypes?: readonly string[];
}

const backend = createFixtureBackend({
  logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  endpoints,
  endpointsDirectory: new URL('../../src/endpoints/', import.meta.url),
  writeArtefact: standInArtefacts,
  slowScenarioMs: 1,
});

/** The outcome as it would be settled; what is held is the endpoint's price of the request. */
export async function testModeOutcome<Result>(
  endpoint: EndpointContract,
  { scenario, parameters = {}, mediaTypes = ['image/jpeg'] }: TestModeRequest = {},
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
  const outcome = await inferWhole(backend, endpoint, {
    jobId: 'job_1111111111111111111111',
    endpoint: endpoint.slug,
    livemode: false,
    testScenario: scenario ?? null,
    parameters,
    inputs,
    reservedCredits,
  });
  return { ...outcome, result: outcome.result as Result, reservedCredits };
}
