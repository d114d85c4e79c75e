/** The specification, row by row: a row that is not met fails under its own name. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { WAIT_CEILING_MS } from '../../src/api/app.ts';
import { WEBHOOK_LADDER_MS } from '../../src/contracts/deliver-webhook.ts';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import { ERRORS } from '../../src/contracts/error-codes.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { query } from '../../src/db/orm.ts';
import { RESPONSE_TIMEOUT_MS } from '../../src/delivery/webhook-client.ts';
import { endpointPath } from '../../src/domain/endpoint-path.ts';
import type { JobResource } from '../../src/domain/job-resource.ts';
import { endpoints as list } from '../../src/endpoints/list.ts';
import { createArtefactWriter } from '../../src/inference/artefacts.ts';
import { createFixtureBackend, SLOW_SCENARIO_MS } from '../../src/inference/fixture-backend.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey, readAccount } from '../support/customers.ts';
import type { OpenApiDocument } from '../support/openapi-check.ts';
import { anotherJpeg, jpeg, jpegOfSize } from '../support/pictures.ts';
import { everythingKept, expectReplay, filePart, read, upload } from '../support/requests.ts';
import { inferenceWorker, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';
import {
  CONVENTIONS,
  DASHBOARD_RESULT,
  ENDPOINT_SLUGS,
  ERROR_ROWS,
  FILES,
  type Field,
  JOB_FIELDS,
  LATER_OPERATIONS,
  LATER_TABLES,
  LIMITS,
  MARKED_PREVIEW,
  MODEL_VERSION_PATTERN,
  PARAMETERS,
  RESULT_CONTENTS,
  SCENARIOS,
  TRANSITIONS,
  VERSION_LABEL,
  WITHOUT_WAIT,
} from './specification-tables.ts';

const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);
const QUIET = { info: () => {}, warn: () => {}, error: () => {} };
/** Of a test key, whose share is a quarter: the second request of a minute is one too many. */
const LIMITED = 'vehicle.pose';
const endpoints: readonly EndpointContract[] = list.map((endpoint: EndpointContract) =>
  endpoint.slug === LIMITED ? { ...endpoint, rateLimitPerMinute: 4 } : endpoint,
);

/** With all its workers. */
let api: TestApi;
/** Where nobody picks a job up. */
let idle: TestApi;
let workers: TestWorkers[];
let document: OpenApiDocument;

beforeAll(async () => {
  [api, idle] = await Promise.all([startTestApi({ endpoints }), startTestApi({ waitCeilingMs: 50 })]);
  const inference = inferenceWorker(
    api.orm,
    createFixtureBackend({
      logger: QUIET,
      endpoints,
      endpointsDirectory,
      writeArtefact: createArtefactWriter({ store: api.store, signedUrls: api.signedUrls }),
      slowScenarioMs: 1_500,
    }),
  );
  workers = [
    await startTestWorkers(api.temporal, [
      await orchestrationWorker(api.orm),
      inference,
      { ...inference, taskQueue: TASK_QUEUES.inferenceHeavy },
    ]),
    await startTestWorkers(idle.temporal, [await orchestrationWorker(idle.orm)]),
  ];
  document = JSON.parse((await api.call('/openapi.json')).text);
});
afterAll(async () => {
  for (const running of workers) await running.stop();
  await Promise.all([api.close(), idle.close()]);
});

// ---- What a schema says ------------------------------------------------------------------------------------------

type Schema = Record<string, unknown>;

const resolve = (schema: Schema): Schema =>
  typeof schema.$ref === 'string'
    ? (document.components.schemas[schema.$ref.replace('#/components/schemas/', '')] as Schema)
    : schema;

/** The schema and, of a union, what it is a union of. */
function branches(schema: Schema): Schema[] {
  const found = resolve(schema);
  const parts = (found.anyOf ?? found.oneOf) as Schema[] | undefined;
  return parts ? parts.flatMap(branches) : [found];
}

/** Schemas of the field `a.b.c`, through unions and lists. */
function schemasAt(schema: Schema, path: string): Schema[] {
  let at = [schema];
  for (const name of path.split('.')) {
    at = at
      .flatMap(branches)
      .flatMap((branch) => (branch.items ? branches(branch.items as Schema) : [branch]))
      .flatMap((branch): Schema[] => {
        const found = (branch.properties as Record<string, Schema> | undefined)?.[name];
        return found ? [found] : [];
      });
  }
  return at;
}

function typesOf(schemas: readonly Schema[]): string[] {
  const types = schemas.flatMap(branches).flatMap((branch) => {
    if (branch.type !== undefined) return [branch.type as string];
    const values = (branch.enum ?? ('const' in branch ? [branch.const] : [])) as unknown[];
    return values.map((value) => (value === null ? 'null' : typeof value));
  });
  return [...new Set(types)].toSorted();
}

const valuesOf = (schemas: readonly Schema[]) =>
  schemas
    .flatMap(branches)
    .flatMap((branch) => (branch.enum ?? ('const' in branch ? [branch.const] : [])) as unknown[]);

function expectField(schema: Schema, { field, types, values, pattern, optional }: Field): void {
  const found = schemasAt(schema, field);
  expect(typesOf(found)).toEqual([...types].toSorted());
  if (values) expect(new Set(valuesOf(found))).toEqual(new Set(values));
  if (pattern !== undefined) expect(found.flatMap(branches).map((branch) => branch.pattern)).toContain(pattern);
  const [parentPath, name] = [field.split('.').slice(0, -1).join('.'), field.split('.').at(-1)];
  const parents = (parentPath === '' ? [schema] : schemasAt(schema, parentPath))
    .flatMap(branches)
    .flatMap((branch) => (branch.items ? branches(branch.items as Schema) : [branch]))
    .filter((branch) => branch.properties);
  for (const parent of parents) expect((parent.required as string[]).includes(name ?? '')).toBe(optional !== true);
}

const schemaNamed = (name: string) => document.components.schemas[name] as Schema;
const operationOf = (slug: string) => {
  const operation = document.paths[endpointPath(slug)]?.post;
  if (!operation) throw new Error(`there is no ${slug}`);
  return operation;
};
const jsonBodyOf = (slug: string) =>
  operationOf(slug).requestBody?.content['application/json'] as unknown as { schema: Schema; example: Schema };
const multipartOf = (slug: string) =>
  operationOf(slug).requestBody?.content['multipart/form-data'] as unknown as {
    schema: { properties: Record<string, Schema>; required: string[] };
    encoding: Record<string, { contentType: string }>;
  };
const contractOf = (slug: string) => {
  const endpoint = endpoints.find((known) => known.slug === slug);
  if (!endpoint) throw new Error(`there is no ${slug}`);
  return endpoint;
};

describe('Job', () => {
  it.each(JOB_FIELDS)('$field', (row) => {
    expectField(schemaNamed('Job'), row);
  });

  it('has no field beside these', () => {
    const properties = Object.keys(schemaNamed('Job').properties as object);
    expect(properties.toSorted()).toEqual(
      JOB_FIELDS.map(({ field }) => field)
        .filter((field) => !field.includes('.'))
        .toSorted(),
    );
  });

  it.each(ENDPOINT_SLUGS)('endpoint %s exists, at its path', (slug) => {
    expect(document.paths).toHaveProperty([`/v1/${slug.replaceAll('.', '/')}`, 'post']);
  });

  it('endpoint has no other values', () => {
    expect(endpoints.map(({ slug }) => slug).toSorted()).toEqual(ENDPOINT_SLUGS.toSorted());
  });

  it('endpoint vehicle.analyse is another spelling of vehicle.analyze', () => {
    expect(document.paths).toHaveProperty(['/v1/vehicle/analyse', 'post']);
  });

  it('stages are of inspections only', () => {
    expect(endpoints.filter(({ stages }) => stages).map(({ slug }) => slug)).toEqual(['inspections']);
  });
});

describe('Result of dashboard.read', () => {
  it.each(DASHBOARD_RESULT)('$field', (row) => {
    expectField(schemaNamed('dashboard.read.result'), row);
  });
});

describe('Bounding box', () => {
  it('has numeric x, y, width and height wherever a result has one', () => {
    const boxes = [...JSON.stringify(schemaNamed('dashboard.read.result')).matchAll(/"bbox":/g)];
    expect(boxes).toHaveLength(2);
    for (const { slug } of endpoints) {
      for (const box of boxesIn(schemaNamed(`${slug}.result`))) {
        for (const name of ['x', 'y', 'width', 'height'])
          expect({ slug, name, types: typesOf(schemasAt(box, name)) }).toEqual({ slug, name, types: ['number'] });
      }
    }
  });
});

function boxesIn(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    (name === 'bbox' || name.endsWith('_bbox')) && typeof field === 'object' && field !== null && !Array.isArray(field)
      ? [field as Schema]
      : boxesIn(field),
  );
}

describe('Request', () => {
  it.each(FILES)('$endpoint takes $minimum to $maximum of $field', ({ endpoint, field, minimum, maximum, ...row }) => {
    const { files } = contractOf(endpoint);
    expect(files).toMatchObject({ field, minimum, maximum, maximumBytes: row.bytes });
    expect(files.directMediaTypes).toEqual(row.mediaTypes);
    const { schema, encoding } = multipartOf(endpoint);
    expect(encoding[field]?.contentType.split(', ')).toEqual(row.mediaTypes);
    expect(schema.properties).toHaveProperty(field);
    expect(schema.required.includes(field)).toBe(minimum > 0);
  });

  it.each(PARAMETERS)('$endpoint $field', ({ endpoint, field, required, accepts, refuses, ...row }) => {
    const { schema, example } = jsonBodyOf(endpoint);
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(schema);
    const wrong = (values: readonly unknown[], isValid: boolean) =>
      values.filter((value) => validate({ ...example, [field]: value }) !== isValid);
    expect({ refused: wrong(accepts, true), accepted: wrong(refuses, false) }).toEqual({ refused: [], accepted: [] });
    const { [field]: _, ...without } = example;
    expect(validate(without)).toBe(required !== true);
    if ('default' in row) expect(schemasAt(schema, field)[0]?.default).toBe(row.default);
    expect(multipartOf(endpoint).schema.properties[field]).toEqual((schema.properties as Schema)[field]);
  });

  it.each(RESULT_CONTENTS)('$endpoint says $says: $field', ({ endpoint, field }) => {
    expect(schemasAt(schemaNamed(`${endpoint}.result`), field)).not.toHaveLength(0);
  });

  it('pricing.vehicle states every amount as an integer', () => {
    for (const field of ['channels.retail.value', 'adjustments.amount', 'comparables.price'])
      expect(typesOf(schemasAt(schemaNamed('pricing.vehicle.result'), field))).toEqual(['integer']);
  });

  it.each(MARKED_PREVIEW)('%s is marked Preview', (slug) => {
    expect(contractOf(slug).preview).toBe(true);
  });
});

describe('Versioning', () => {
  it('the interface description carries the version label', () => {
    expect(document.info.version).toBe(VERSION_LABEL);
  });

  it('model_version is <model>@<release date>', async () => {
    const { job } = await settle(await createCustomer(api.orm));
    expect(job.model_version).toMatch(MODEL_VERSION_PATTERN);
  });
});

/** Runs what a row stands for, which fails where the row is not met. */
const expectMet = <Given>(row: (given: Given) => Promise<void>, given: Given): Promise<void> => row(given);

// ---- What the service does ---------------------------------------------------------------------------------------

/** Submits to dashboard.read with a test key, and answers the job once it has ended. */
async function settle({ keys }: Customer, request: Partial<Parameters<typeof read>[1]> = {}) {
  const answer = await read(api, { key: keys.test, query: '?wait=true', ...request });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return { answer, job: answer.job };
}

const getJob = async (from: TestApi, id: string, key: string): Promise<JobResource> =>
  (await from.call(`/v1/jobs/${id}`, { key })).job;

/** Submits pictures to any endpoint that takes them directly, and answers the job once it has ended. */
async function run(slug: string, { keys }: Customer, scenario?: string): Promise<JobResource> {
  const body = new FormData();
  body.append(contractOf(slug).files.field, filePart(jpeg), 'a.jpg');
  const headers = scenario === undefined ? {} : { 'X-Service-Test-Scenario': scenario };
  const { job } = await api.call(endpointPath(slug), { method: 'POST', key: keys.test, headers, body });
  await api.temporal.client.workflow.getHandle(job.id).result();
  return getJob(api, job.id, keys.test);
}

function confidencesIn(value: unknown): number[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    name === 'confidence' && typeof field === 'number' ? [field] : confidencesIn(field),
  );
}

const conventions: Record<(typeof CONVENTIONS)[number], (customer: Customer) => Promise<void>> = {
  'every inference endpoint is a POST under /v1': async () => {
    for (const slug of ENDPOINT_SLUGS) expect(Object.keys(document.paths[endpointPath(slug)] ?? {})).toEqual(['post']);
  },

  'an inference call answers 202 with a queued Job': async ({ keys }) => {
    const { status, job } = await read(idle, { key: (await createCustomer(idle.orm)).keys.test });
    expect([status, job]).toEqual([202, expect.objectContaining({ status: 'queued', result: null, error: null })]);
    expect(job).toMatchObject({ started_at: null, completed_at: null, model_version: null });
    expect((await read(api, { key: keys.test })).status).toBe(202);
  },

  'the result is collected by GET /v1/jobs/{id}': async (customer) => {
    const job = await run('dashboard.read', customer);
    expect(job).toMatchObject({ status: 'succeeded', result: expect.any(Object) });
  },

  'with wait=true the answer is 200 with the settled Job': async (customer) => {
    const { job } = await settle(customer);
    expect(job.status).toBe('succeeded');
    expect(job).toEqual(await getJob(api, job.id, customer.keys.test));
  },

  'when the ceiling of wait passes, the answer is 202 and the job goes on': async () => {
    const { keys } = await createCustomer(idle.orm);
    const { status, job } = await read(idle, { key: keys.test, query: '?wait=true' });
    expect([status, job.status]).toEqual([202, 'queued']);
    expect((await getJob(idle, job.id, keys.test)).status).toBe('queued');
  },

  'a multipart part carries the file and JSON refers to an upload, with the same effect': async (customer) => {
    const direct = await settle(customer, { fields: { unit_hint: 'mi' } });
    const input_ref = await upload(api, customer.keys.test);
    const referring = await settle(customer, { json: { input_ref, unit_hint: 'mi' } });
    expect(referring.job.result).toEqual(direct.job.result);
  },

  'input_refs names the uploads of an endpoint that takes several': async ({ keys }) => {
    const input_refs = [await upload(api, keys.test), await upload(api, keys.test)];
    const answer = await postJson('driver_license.read', keys.test, { input_refs });
    expect(answer.status).toBe(202);
  },

  'a video comes as an upload only': async ({ keys }) => {
    const body = new FormData();
    body.append('video', filePart(jpeg), 'a.mp4');
    const direct = await api.call(endpointPath('video.onboard'), { method: 'POST', key: keys.test, body });
    expect(direct.error.code).toBe('unsupported_media_type');
    const video = new FormData();
    video.append('file', filePart(readFileSync(new URL('video.onboard/fixtures/example.mp4', endpointsDirectory))));
    const { json } = await api.call('/v1/uploads', { method: 'POST', key: keys.test, body: video });
    expect((await postJson('video.onboard', keys.test, { input_ref: json.id })).status).toBe(202);
  },

  'an Idempotency-Key makes a replay answer the stored response, and bills nothing': async (customer) => {
    const request = { idempotencyKey: 'a-key-of-this-test' };
    const { answer } = await settle(customer, request);
    const before = await readAccount(api.orm, customer.organizationId, false);
    const replay = await settle(customer, request);
    expectReplay(replay.answer, answer);
    expect(answer.headers.get('Idempotent-Replayed')).toBeNull();
    expect(await readAccount(api.orm, customer.organizationId, false)).toEqual(before);
  },

  'an Idempotency-Key has 8 to 255 characters': async ({ keys }) => {
    const send = async (length: number) =>
      (await read(api, { key: keys.test, image: anotherJpeg(), idempotencyKey: 'k'.repeat(length) })).status;
    expect([await send(7), await send(8), await send(255), await send(256)]).toEqual([400, 202, 202, 400]);
  },

  'test jobs carry livemode false and draw on the test balance alone': async (customer) => {
    const live = await readAccount(api.orm, customer.organizationId, true);
    const before = await readAccount(api.orm, customer.organizationId, false);
    const { job } = await settle(customer);
    expect(job.livemode).toBe(false);
    expect(await readAccount(api.orm, customer.organizationId, true)).toEqual(live);
    const after = await readAccount(api.orm, customer.organizationId, false);
    expect(before.available - after.available).toBe(job.credits.charged);
  },

  'live keys ignore X-Service-Test-Scenario': async ({ keys }) => {
    const answer = await read(api, { key: keys.live, scenario: 'no_such_scenario' });
    expect(answer.error.code).toBe('endpoint_unavailable');
  },

  'GET /v1/endpoints tells availability and preview': async ({ keys }) => {
    const { json } = await api.call('/v1/endpoints', { key: keys.test });
    const told = json.data as { endpoint: string; preview: boolean; available: boolean }[];
    expect(told.map(({ endpoint }) => endpoint).toSorted()).toEqual(ENDPOINT_SLUGS.toSorted());
    for (const { endpoint, preview } of told) expect(preview).toBe(contractOf(endpoint).preview);
    expect(told.every(({ available }) => typeof available === 'boolean')).toBe(true);
  },

  'every response carries Request-Id': async ({ keys }) => {
    const answers = await Promise.all([
      read(api, { key: keys.test }),
      read(api, {}),
      api.call('/v1/endpoints', { key: keys.test }),
      api.call('/v1/none'),
    ]);
    for (const { headers } of answers) expect(headers.get('Request-Id')).toMatch(/^req_/);
  },

  'paths of inference are under /v1 and of management under /mgmt/v1': async () => {
    for (const path of Object.keys(document.paths)) expect(path).toMatch(/^\/(?:v1|mgmt\/v1)\//);
  },
};

const postJson = (slug: string, key: string, body: object): Promise<Answer> =>
  api.call(endpointPath(slug), {
    method: 'POST',
    key,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('Convention', () => {
  it.each(CONVENTIONS)('%s', async (convention) => {
    await expectMet(conventions[convention], await createCustomer(api.orm));
  });

  it.each(WITHOUT_WAIT)('%s rejects wait', async (slug) => {
    expect(contractOf(slug).acceptsWait).toBe(false);
    expect(operationOf(slug).parameters?.map(({ name }) => name)).not.toContain('wait');
    const { keys } = await createCustomer(api.orm);
    const path = `${endpointPath(slug)}?wait=true`;
    const answer = await api.call(path, { method: 'POST', key: keys.test, body: new FormData() });
    expect([answer.status, answer.error.code]).toEqual([400, 'wait_not_supported']);
  });

  it('every other endpoint accepts wait', () => {
    for (const { slug, acceptsWait } of endpoints)
      expect({ slug, acceptsWait }).toEqual({ slug, acceptsWait: !WITHOUT_WAIT.includes(slug) });
  });
});

const scenarios: Record<(typeof SCENARIOS)[number]['effect'], (customer: Customer) => Promise<void>> = {
  'Deterministic success with the default fixture': async (customer) => {
    const [first, second] = [await settle(customer), await settle(customer, { image: anotherJpeg() })];
    expect(first.job).not.toHaveProperty('test_scenario');
    expect(first.job.result).toEqual(second.job.result);
    expect(first.job.result).not.toBeNull();
  },

  'Success with nothing detected: empty lists, null readings': async (customer) => {
    const { job } = await settle(customer, { scenario: 'empty_result' });
    expect(job).toMatchObject({ status: 'succeeded', test_scenario: 'empty_result' });
    expect(job.result).toEqual({ cluster_lit: null, odometer: null, warning_lights: [], fuel_level_percent: null });
  },

  'Success with every confidence below 0.5': async (customer) => {
    for (const slug of ['dashboard.read', 'vin.read', 'tire.read', 'damage.detect']) {
      const { status, result, test_scenario } = await run(slug, customer, 'low_confidence');
      expect([status, test_scenario]).toEqual(['succeeded', 'low_confidence']);
      expect(confidencesIn(result).length).toBeGreaterThan(0);
      expect(Math.max(...confidencesIn(result))).toBeLessThan(0.5);
    }
  },

  'Job settles failed; the credit reservation is released': async (customer) => {
    const before = await readAccount(api.orm, customer.organizationId, false);
    const { job } = await settle(customer, { scenario: 'model_error' });
    expect(job).toMatchObject({
      status: 'failed',
      test_scenario: 'model_error',
      result: null,
      credits: { charged: 0 },
    });
    expect(job.error).toMatchObject({ type: 'processing_error', code: 'model_inference_failed' });
    expect(await readAccount(api.orm, customer.organizationId, false)).toEqual(before);
  },

  'Completion after about 30 s, so wait=true times out': async (customer) => {
    expect(SLOW_SCENARIO_MS).toBeGreaterThan(WAIT_CEILING_MS);
    expect(SLOW_SCENARIO_MS).toBeLessThanOrEqual(35_000);
    expect(await run('dashboard.read', customer, 'slow')).toMatchObject({ status: 'succeeded', test_scenario: 'slow' });
  },

  '402 at admission, no job created': async (customer) => {
    const before = await everythingKept(api);
    const answer = await read(api, { key: customer.keys.test, scenario: 'insufficient_credits' });
    expect(answer.status).toBe(402);
    expect(await everythingKept(api)).toEqual(before);
  },
};

describe('Test scenario', () => {
  it.each(SCENARIOS)('$scenario: $effect', async ({ effect }) => {
    await expectMet(scenarios[effect], await createCustomer(api.orm));
  });

  it('that an endpoint does not support is rejected, not ignored', async () => {
    const customer = await createCustomer(api.orm);
    const body = new FormData();
    body.append('image', filePart(jpeg), 'a.jpg');
    const answer = await api.call(endpointPath('render.enhance'), {
      method: 'POST',
      key: customer.keys.test,
      headers: { 'X-Service-Test-Scenario': 'empty_result' },
      body,
    });
    expect([answer.status, answer.error.code]).toEqual([400, 'test_scenario_not_supported']);
  });
});

const transitions: Record<(typeof TRANSITIONS)[number]['to'], () => Promise<void>> = {
  queued: async () => {
    const { keys, organizationId } = await createCustomer(idle.orm, { test: 100 });
    const { job } = await read(idle, { key: keys.test });
    expect(job).toMatchObject({ status: 'queued', credits: { reserved: 20, charged: 0 } });
    expect(await readAccount(idle.orm, organizationId, false)).toMatchObject({ available: 80, held: 20 });
  },

  processing: async () => {
    const { keys } = await createCustomer(api.orm);
    const { job } = await read(api, { key: keys.test, scenario: 'slow' });
    const { text } = await api.call(`/v1/jobs/${job.id}/events`, { key: keys.test });
    const [, data = '{}'] = /event: job\.processing\n(?:id: .*\n)?data: (.*)\n/.exec(text) ?? [];
    expect(JSON.parse(data)).toMatchObject({
      status: 'processing',
      started_at: expect.any(Number),
      completed_at: null,
    });
  },

  succeeded: async () => {
    const { job } = await settle(await createCustomer(api.orm));
    expect(job).toMatchObject({
      completed_at: expect.any(Number),
      credits: { reserved: 20, charged: 20 },
      error: null,
    });
  },

  partial: async () => {
    const customer = await createCustomer(api.orm);
    const job = await run('inspections', customer, 'partial_inspection');
    expect(job).toMatchObject({ status: 'partial', completed_at: expect.any(Number), result: expect.any(Object) });
    expect(job.credits.charged).toBeLessThan(job.credits.reserved);
    expect(await readAccount(api.orm, customer.organizationId, false)).toMatchObject({
      available: 10_000 - job.credits.charged,
      held: 0,
    });
  },

  failed: async () => {
    const { job } = await settle(await createCustomer(api.orm), { scenario: 'model_error' });
    expect(job).toMatchObject({ status: 'failed', completed_at: expect.any(Number), credits: { charged: 0 } });
  },

  expired: async () => {
    const { keys } = await createCustomer(idle.orm);
    const { job } = await read(idle, { key: keys.test, headers: { 'Cancel-After': '5s' } });
    await idle.temporal.client.workflow.getHandle(job.id).result();
    expect(await getJob(idle, job.id, keys.test)).toMatchObject({
      status: 'expired',
      result: null,
      error: { type: expect.any(String), code: expect.any(String), message: expect.any(String) },
      credits: { charged: 0 },
    });
  },

  canceled: async () => {
    const { keys } = await createCustomer(idle.orm);
    const { job } = await read(idle, { key: keys.test });
    const canceled = await idle.call(`/v1/jobs/${job.id}/cancel`, { method: 'POST', key: keys.test });
    expect(canceled.job).toMatchObject({ status: 'canceled', started_at: null, credits: { charged: 0 } });
  },
};

describe('Transition', () => {
  it.each(TRANSITIONS)('$from to $to: $also', ({ to }) => expectMet(transitions[to], undefined));
});

type ErrorNow = Exclude<(typeof ERROR_ROWS)[number], { later: unknown }>;

const provoked: Record<ErrorNow['code'], () => Promise<Answer>> = {
  wait_not_supported: async () =>
    api.call('/v1/render/360?wait=true', {
      method: 'POST',
      key: (await createCustomer(api.orm)).keys.test,
      body: new FormData(),
    }),
  test_scenario_not_supported: async () =>
    read(api, { key: (await createCustomer(api.orm)).keys.test, scenario: 'no_such_scenario' }),
  invalid_api_key: () => read(api, { key: 'chk_test_that_nobody_was_given' }),
  insufficient_credits: async () => read(api, { key: (await createCustomer(api.orm, { test: 19 })).keys.test }),
  scope_not_granted: async () => {
    const { organizationId } = await createCustomer(api.orm);
    return read(api, { key: (await createKey(api.orm, organizationId, 'test', { scopes: ['render:write'] })).secret });
  },
  idempotency_key_reuse: async () => {
    const { keys } = await createCustomer(api.orm);
    const request = { key: keys.test, idempotencyKey: 'used-for-two-payloads' };
    await read(api, request);
    return read(api, { ...request, image: anotherJpeg() });
  },
  rate_limit_exceeded: async () => {
    const { keys } = await createCustomer(api.orm);
    const body = () => {
      const parts = new FormData();
      parts.append('image', filePart(jpeg), 'a.jpg');
      return parts;
    };
    await api.call(endpointPath(LIMITED), { method: 'POST', key: keys.test, body: body() });
    return api.call(endpointPath(LIMITED), { method: 'POST', key: keys.test, body: body() });
  },
};

describe('Error', () => {
  const now = ERROR_ROWS.filter((row): row is ErrorNow => !('later' in row));

  it.each(now)('$status for $condition', async ({ status, code }) => {
    const answer = await provoked[code]();
    expect([answer.status, answer.error.code]).toEqual([status, code]);
    expect(ERRORS[code].status).toBe(status);
    expect(Object.keys(operationOf('dashboard.read').responses)).toContain(String(status));
  });

  it('429 comes with Retry-After and RateLimit-*', async () => {
    const { headers } = await provoked.rate_limit_exceeded();
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    for (const name of ['Limit', 'Remaining', 'Reset', 'Policy'])
      expect(headers.get(`RateLimit-${name}`)).not.toBeNull();
  });

  it('of a job has type, code and message', async () => {
    const { job } = await settle(await createCustomer(api.orm), { scenario: 'model_error' });
    expect(Object.keys(job.error ?? {}).toSorted()).toEqual(['code', 'message', 'type']);
  });
});

type LimitNow = Exclude<(typeof LIMITS)[number], { later: unknown }>;

/** Tells whether files of this many bytes, and of one more, are taken. */
async function takesBytes(slug: string, bytes: number): Promise<boolean[]> {
  const { keys } = await createCustomer(api.orm);
  const statuses: number[] = [];
  for (const size of [bytes, bytes + 1]) {
    const body = new FormData();
    body.append(contractOf(slug).files.field, filePart(jpegOfSize(size)), 'a.jpg');
    statuses.push((await api.call(endpointPath(slug), { method: 'POST', key: keys.test, body })).status);
  }
  return statuses.map((status) => status === 202);
}

/** Tells whether as many pictures, and one more, are taken. */
async function takesPictures(slug: string, count: number, parameters: object): Promise<boolean[]> {
  const { keys } = await createCustomer(api.orm);
  const id = await upload(api, keys.test);
  const statuses: number[] = [];
  for (const pictures of [count, count + 1]) {
    const input_refs = Array.from({ length: pictures }, () => id);
    statuses.push((await postJson(slug, keys.test, { input_refs, ...parameters })).status);
  }
  return statuses.map((status) => status === 202);
}

const limits: Record<LimitNow['limit'], (value: number) => Promise<void>> = {
  'a file sent as multipart': async (bytes) => expect(await takesBytes('tire.read', bytes)).toEqual([true, false]),
  'a file sent to the driver licence reader as multipart': async (bytes) =>
    expect(await takesBytes('driver_license.read', bytes)).toEqual([true, false]),
  'the ceiling of wait in seconds': async (seconds) => expect(WAIT_CEILING_MS).toBe(seconds * 1_000),
  'the shortest Idempotency-Key': async (length) => expect(idempotencyKeySchema().minLength).toBe(length),
  'the longest Idempotency-Key': async (length) => expect(idempotencyKeySchema().maxLength).toBe(length),
  'hours for which an idempotent response is stored': async (hours) => {
    const { keys, organizationId } = await createCustomer(api.orm);
    await read(api, { key: keys.test, idempotencyKey: 'kept-for-a-day' });
    const [row] = await query<{ hours: string }>(
      api.orm.em.fork(),
      `select extract(epoch from expires_at - now()) / 3600 as hours from idempotency_claims
       where organization_id = $1`,
      [organizationId],
    );
    expect(Number(row?.hours)).toBeCloseTo(hours, 1);
  },
  'images of the driver licence reader': async (count) =>
    expect(await takesPictures('driver_license.read', count, {})).toEqual([true, false]),
  'images of pricing': async (count) =>
    expect(await takesPictures('pricing.vehicle', count, { vehicle: { vin: '7ZZBX2C45N1048215' } })).toEqual([
      true,
      false,
    ]),
  'seconds that a webhook destination has to answer': async (seconds) =>
    expect(RESPONSE_TIMEOUT_MS).toBe(seconds * 1_000),
  'hours for which a delivery is retried': async (hours) => {
    const waits = WEBHOOK_LADDER_MS.filter((wait) => wait > 0);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBe(hours * 3_600_000);
  },
  'seconds that the slow scenario takes': async (seconds) =>
    expect(Math.abs(SLOW_SCENARIO_MS / 1_000 - seconds)).toBeLessThanOrEqual(5),
};

const idempotencyKeySchema = () =>
  operationOf('dashboard.read').parameters?.find(({ name }) => name === 'Idempotency-Key')?.schema as Schema;

describe('Limit', () => {
  const now = LIMITS.filter((row): row is LimitNow => !('later' in row));

  it.each(now)('$limit: $value', ({ limit, value }) => expectMet(limits[limit], value));
});

describe('What is for later', () => {
  it('is these operations, and no others', () => {
    const rows = [...ERROR_ROWS, ...LIMITS].flatMap((row) => ('later' in row ? [row.later as string] : []));
    const named = [...rows, ...LATER_TABLES.map(({ operation }) => operation)];
    expect([...new Set(named)].toSorted()).toEqual([...LATER_OPERATIONS].toSorted());
  });

  it.each(LATER_OPERATIONS)('%s is not built yet: when it is, take its rows over into tests', async (operation) => {
    const [method = '', template = ''] = operation.split(' ');
    const path = template.replace('{sdk}', 'player');
    const { keys } = await createCustomer(api.orm);
    const answer = await api.call(path, { method, key: keys.live });
    expect([answer.status, answer.error.code]).toEqual([404, 'resource_not_found']);
    expect(document.paths).not.toHaveProperty([template]);
  });

  it('has errors of its own, which no refusal of today carries', () => {
    const shared = ['parameter_invalid', 'scope_not_granted'];
    const codes = ERROR_ROWS.flatMap((row) => ('later' in row && !shared.includes(row.code) ? [row.code] : []));
    expect(codes).toHaveLength(5);
    for (const code of codes) expect(ERRORS).not.toHaveProperty(code);
  });
});
