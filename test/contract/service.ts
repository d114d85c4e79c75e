/** The service as the contract's tests use it: its document, its test mode with every worker, and requests. */
import { expect } from 'vitest';
import { buildOpenApi } from '../../src/api/openapi/document.ts';
import { createArtefactWriter } from '../../src/artefacts/artefact-writer.ts';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import { endpointBySlug, endpoints } from '../../src/endpoints/list.ts';
import { endpointPath } from '../../src/endpoints/shared/endpoint-path.ts';
import { createFixtureBackend } from '../../src/inference/backends/fixture-backend.ts';
import type { JobResource } from '../../src/jobs/job-resource.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';
import type { Customer } from '../support/customers.ts';
import type { OpenApiDocument } from '../support/openapi-check.ts';
import { jpeg } from '../support/pictures.ts';
import { filePart, type ReadRequest, read } from '../support/requests.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers } from '../support/workers.ts';

const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);
const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

export function documentOf(endpoints: readonly EndpointContract[]): OpenApiDocument {
  return JSON.parse(JSON.stringify(buildOpenApi(endpoints, 'https://api.example')));
}

/** Starts the API with all workers of test mode. Call `close` in `afterAll`. */
export async function startTestMode({ slowScenarioMs = 1, hasOwnLinks = false } = {}): Promise<TestApi> {
  const api = await startTestApi({ hasOwnLinks });
  const backend = createFixtureBackend({
    logger: QUIET,
    endpoints,
    endpointsDirectory,
    writeArtefact: createArtefactWriter({ store: api.store, signedUrls: api.signedUrls }),
    slowScenarioMs,
    inputFiles: api.store,
  });
  return withWorkers(api, [await orchestrationWorker(api.orm), ...inferenceWorkers(api.orm, backend)]);
}

/** As `startTestMode`, but nobody picks a job up, and nobody waits long. */
export async function startIdle(): Promise<TestApi> {
  const api = await startTestApi({ waitCeilingMs: 50 });
  return withWorkers(api, [await orchestrationWorker(api.orm)]);
}

async function withWorkers(api: TestApi, options: Parameters<typeof startTestWorkers>[1]): Promise<TestApi> {
  const workers = await startTestWorkers(api.temporal, options);
  return {
    ...api,
    async close() {
      await workers.stop();
      await api.close();
    },
  };
}

/** Submits to dashboard.read with a test key, and returns the job once it has ended. */
export async function settle(api: TestApi, { keys }: Customer, request: ReadRequest = {}) {
  const answer = await read(api, { key: keys.test, query: '?wait=true', ...request });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return { answer, job: answer.job };
}

export const getJob = async (api: TestApi, id: string, key: string): Promise<JobResource> =>
  (await api.call(`/v1/jobs/${id}`, { key })).job;

/** Submits a picture to any endpoint that takes one directly. */
export function postPicture(
  api: TestApi,
  slug: string,
  key: string,
  { scenario, picture = jpeg }: { scenario?: string; picture?: Uint8Array } = {},
): Promise<Answer> {
  const body = new FormData();
  body.append(endpointBySlug(slug).files.field, filePart(picture), 'a.jpg');
  const headers = scenario === undefined ? {} : { 'X-Service-Test-Scenario': scenario };
  return api.call(endpointPath(slug), { method: 'POST', key, headers, body });
}

export const postJson = (api: TestApi, path: string, key: string, body: object): Promise<Answer> =>
  api.call(path, {
    method: 'POST',
    key,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Submits a picture to an endpoint, and returns the job once it has ended. */
export async function run(api: TestApi, slug: string, { keys }: Customer, scenario?: string): Promise<JobResource> {
  const { job } = await postPicture(api, slug, keys.test, scenario === undefined ? {} : { scenario });
  await api.temporal.client.workflow.getHandle(job.id).result();
  return getJob(api, job.id, keys.test);
}

/** Runs what a row stands for, which fails where the row is not met. */
export const expectMet = <Given>(row: (given: Given) => Promise<void>, given: Given): Promise<void> => row(given);
