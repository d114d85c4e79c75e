/**
 * Walks every endpoint by HTTP, with the real workers: each scenario, and the refusals that are inference's own. The test
 * API checks every response against the OpenAPI document; `every-operation.test.ts` produces every status in it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import { endpoints as list } from '../../src/endpoints/list.ts';
import { endpointPath } from '../../src/endpoints/shared/endpoint-path.ts';
import type { Answer, TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { startTestMode } from './service.ts';

const endpoints: readonly EndpointContract[] = list;
const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);
const VIDEO = new URL('render.video/fixtures/walk-around-16-9.mp4', endpointsDirectory);

let api: TestApi;

beforeAll(async () => {
  api = await startTestMode();
});
afterAll(() => api.close());

interface Request {
  parameters?: Record<string, unknown>;
  scenario?: string | null;
  query?: string;
  /** Null sends no file. */
  files?: null;
}

/** What an endpoint cannot do without, beside its files. */
async function requiredParameters({ slug }: EndpointContract, customer: Customer): Promise<Record<string, unknown>> {
  if (slug === 'pricing.vehicle')
    return { vehicle: { make: 'Talvera', model: 'Lumo', year: 2021, mileage_km: 42_000 } };
  if (slug === 'pricing.repair') return { job_id: await endedJobId('damage.detect', customer) };
  if (slug === 'viewer.hotspots') return { job_id: await endedJobId('render.360', customer) };
  return {};
}

async function endedJobId(slug: string, customer: Customer): Promise<string> {
  const endpoint = endpoints.find((known) => known.slug === slug);
  if (!endpoint) throw new Error(`there is no ${slug}`);
  const job = await ended(await submit(endpoint, customer), customer);
  return String(job.id);
}

async function submit(endpoint: EndpointContract, customer: Customer, request: Request = {}): Promise<Answer> {
  const parameters = { ...(await requiredParameters(endpoint, customer)), ...request.parameters };
  const isVideo = endpoint.files.directMediaTypes.length === 0 && endpoint.files.maximum > 0;
  const uploads = isVideo && request.files !== null ? { input_ref: await uploadVideo(customer) } : {};
  const isMultipart = endpoint.files.directMediaTypes.length > 0;
  return api.call(endpointPath(endpoint.slug) + (request.query ?? ''), {
    method: 'POST',
    key: customer.keys.test,
    headers: {
      ...(request.scenario && { 'X-Service-Test-Scenario': request.scenario }),
      ...(!isMultipart && { 'Content-Type': 'application/json' }),
    },
    body: isMultipart ? form(endpoint, parameters, request.files) : JSON.stringify({ ...uploads, ...parameters }),
  });
}

function form(endpoint: EndpointContract, parameters: object, files: null | undefined): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(parameters)) {
    body.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const example = new URL(`${endpoint.slug}/fixtures/example.jpg`, endpointsDirectory);
  // Of optional files one goes along; a spin needs eight.
  const count =
    endpoint.slug === 'render.360' ? 8 : endpoint.slug === 'render.video' ? 3 : Math.max(endpoint.files.minimum, 1);
  const picture = new Blob([
    readFileSync(existsSync(example) ? example : new URL('vehicle.pose/fixtures/example.jpg', endpointsDirectory)),
  ]);
  for (let index = 0; files !== null && index < count; index += 1) body.append(endpoint.files.field, picture, 'a.jpg');
  return body;
}

async function uploadVideo(customer: Customer): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob([readFileSync(VIDEO)]), 'walk.mp4');
  const answer = await api.call('/v1/uploads', { method: 'POST', key: customer.keys.test, body });
  return String(answer.json.id);
}

/** The job once it has ended. */
async function ended(submitted: Answer, customer: Customer): Promise<Record<string, unknown>> {
  expect([submitted.status, submitted.text]).toEqual([202, expect.any(String)]);
  const id = String(submitted.json.id);
  await api.temporal.client.workflow.getHandle(id).result();
  return (await api.call(`/v1/jobs/${id}`, { key: customer.keys.test })).json;
}

describe.each(endpoints.map((endpoint) => ({ slug: endpoint.slug, endpoint })))('$slug', ({ slug, endpoint }) => {
  const scenarios = [null, ...Object.keys(endpoint.scenarios)];

  it.each(scenarios)(`${slug} follows the scenario %s in test mode`, async (scenario) => {
    const customer = await createCustomer(api.orm, { test: 1_000_000 });
    const answer = await submit(endpoint, customer, { scenario });
    if (scenario === 'insufficient_credits') {
      expect(answer.error.code).toBe('insufficient_credits');
      return;
    }
    const job = await ended(answer, customer);
    expect(job).toMatchObject({ endpoint: slug, status: expectedStatus(slug, scenario), livemode: false });
    expect(job.test_scenario).toBe(scenario ?? undefined);
    const { reserved, charged } = job.credits as { reserved: number; charged: number };
    expect(charged).toBeLessThanOrEqual(reserved);
    if (FAILING.includes(scenario ?? ''))
      expect([charged, job.error]).toEqual([0, expect.objectContaining({ type: 'processing_error' })]);
    else expect(job.error).toBeNull();
    expect('stages' in job).toBe(endpoint.stages !== undefined);
    await expectLinksToWork(job);
  });

  it(`${slug} makes the refusals common to all endpoints`, async () => {
    const customer = await createCustomer(api.orm, { test: 1_000_000 });
    const refused = (request: Request) => submit(endpoint, customer, request).then((answer) => answer.error);
    expect(await refused({ parameters: { no_such_field: 'x' } })).toMatchObject({
      code: 'parameter_unknown',
      param: 'no_such_field',
    });
    expect(await refused({ scenario: 'no_such_scenario' })).toMatchObject({ code: 'test_scenario_not_supported' });
    expect(await refused({ query: '?wait=perhaps' })).toMatchObject({
      code: endpoint.acceptsWait ? 'parameter_invalid' : 'wait_not_supported',
      param: 'wait',
    });
    if (endpoint.files.minimum > 0) expect((await refused({ files: null })).code).toBe('parameter_missing');
    await expectLedgerToBalance(api.databaseUrl);
  });

  it(`${slug} refuses a live key before holding credits while no model is installed`, async () => {
    const { keys, organizationId } = await createCustomer(api.orm);
    const before = await readAccount(api.orm, organizationId, true);
    const answer = await api.call(endpointPath(slug), { method: 'POST', key: keys.live, body: new FormData() });
    expect(answer.error.code).toBe('endpoint_unavailable');
    expect(await readAccount(api.orm, organizationId, true)).toEqual(before);
  });
});

/** Scenarios in which the job fails. */
const FAILING = ['model_error', 'input_unreadable'];

/** From the fixture's outcome file, where it has one. */
function expectedStatus(slug: string, scenario: string | null): string {
  if (FAILING.includes(scenario ?? '')) return 'failed';
  const file = new URL(`${slug}/fixtures/${scenario ?? 'default'}.outcome.json`, endpointsDirectory);
  return existsSync(file)
    ? String((JSON.parse(readFileSync(file, 'utf8')) as { status: unknown }).status)
    : 'succeeded';
}

/** Every artefact of a result can be fetched, without a key, by anybody who has its link. */
async function expectLinksToWork(job: unknown): Promise<void> {
  for (const [url] of JSON.stringify(job).matchAll(/https:[^"]+\/v1\/artefacts\/[^"]+/g)) {
    const response = await fetch(url.replace(/^https:\/\/[^/]+/, api.url));
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  }
}
