/** The OpenAPI document. Every API test also validates responses against it. */

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../src/contracts/api-version.ts';
import { ERRORS } from '../../src/contracts/error-codes.ts';
import { JOB_STATUSES } from '../../src/contracts/job.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { endpointPath } from '../../src/endpoints/shared/endpoint-path.ts';
import { PUBLIC_BASE_URL, startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { createOpenApiCheck, type OpenApiDocument, type OpenApiOperation } from '../support/openapi-check.ts';
import { read } from '../support/requests.ts';

let api: TestApi;
let document: OpenApiDocument;
let operations: { path: string; method: string; operation: OpenApiOperation }[];

beforeAll(async () => {
  api = await startTestApi();
  document = JSON.parse((await api.call('/openapi.json')).text);
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
});
afterAll(() => api.close());

it('the OpenAPI document is OpenAPI 3.1 with the contract version and the address of this deployment', () => {
  expect(document).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\./),
    info: { title: expect.any(String), version: '2026-10-04' },
    servers: [{ url: PUBLIC_BASE_URL }],
  });
});

it('every $ref of the OpenAPI document resolves', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target ?? '');
  expect(references.length).toBeGreaterThan(0);
  for (const target of references) {
    const found = target
      .replace(/^#\//, '')
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
    expect({ target, found: found !== undefined }).toEqual({ target, found: true });
  }
});

it('every schema of the OpenAPI document is valid JSON Schema 2020-12', () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const schemas = [
    ...Object.values(document.components.schemas),
    ...operations.flatMap(({ operation }) => [
      ...(operation.parameters ?? []).map(({ schema }) => schema),
      ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema),
      ...Object.values(operation.responses).flatMap(({ content = {} }) =>
        Object.values(content).map(({ schema }) => schema),
      ),
    ]),
  ];
  for (const schema of schemas)
    expect({ schema, valid: ajv.validateSchema(schema as object) }).toMatchObject({ valid: true });
});

describe('every operation', () => {
  it('every operation has a unique id', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every(Boolean)).toBe(true);
  });

  it('every operation declares exactly the placeholders of its path as required parameters', () => {
    for (const { path, operation } of operations) {
      const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect({ path, names: inPath.map(({ name }) => name) }).toEqual({ path, names: placeholders });
      for (const parameter of inPath) expect(parameter.required).toBe(true);
    }
  });

  it('every operation has parameters that are unique by location and name', () => {
    for (const { path, operation } of operations) {
      const names = (operation.parameters ?? []).map((parameter) => `${parameter.in} ${parameter.name}`);
      expect({ path, duplicates: names.length - new Set(names).size }).toEqual({ path, duplicates: 0 });
    }
  });

  it('every operation documents a success response, and errors by shared responses', () => {
    const errors = new Set(Object.values(ERRORS).flatMap(({ status }) => (status === null ? [] : [String(status)])));
    for (const { path, operation } of operations) {
      const documented = Object.keys(operation.responses);
      expect({ path, good: documented.some((status) => status.startsWith('2')) }).toEqual({ path, good: true });
      for (const [status, response] of Object.entries(operation.responses)) {
        if (errors.has(status))
          expect(response.$ref).toBe(`#/components/responses/${errorOf(path, operation)}${status}`);
        else expect(response.description).toMatch(/\S/);
      }
    }
  });

  it('every documented operation exists: it requires a key, or a token on the management API', async () => {
    for (const { path, method, operation } of operations) {
      if (operation.security?.length === 0) continue;
      const answer = await api.call(path.replace(/\{\w+\}/g, 'x'), { method: method.toUpperCase() });
      const code = path.startsWith('/mgmt/') ? 'missing_token' : 'missing_api_key';
      expect({ path, method, code: answer.error.code }).toEqual({ path, method, code });
    }
  });
});

/** Prefix of its error responses. */
function errorOf(path: string, { security }: OpenApiOperation): string {
  if (path.startsWith('/mgmt/')) return 'ManagementError';
  if (path.startsWith('/v1/sdk-licenses/')) return 'LicenseError';
  return security?.length === 0 ? 'LinkError' : 'Error';
}

it('the OpenAPI document lists the errors that an endpoint can return, and none of other surfaces', () => {
  const codesOf = (status: number) => {
    const { $ref = '' } = document.paths[endpointPath('driver_license.read')]?.post?.responses[status] ?? {};
    const { description = '' } = document.components.responses[$ref.replace(/.*\//, '')] ?? {};
    return [...description.matchAll(/`(\w+)`/g)].map(([, code]) => code);
  };
  expect(codesOf(401)).toEqual(['missing_api_key', 'invalid_api_key', 'api_key_expired', 'api_key_revoked']);
  expect(codesOf(403)).toEqual(['scope_not_granted']);
  expect(codesOf(409)).toEqual(['job_not_cancelable', 'idempotency_key_reuse', 'idempotency_request_in_progress']);
  expect(codesOf(503)).toEqual(['endpoint_unavailable', 'service_unavailable']);
});

it('the OpenAPI document states the type of every enum, for client generators', () => {
  const enums: { enum: unknown[]; type?: unknown }[] = [];
  JSON.parse(JSON.stringify(document), (_name, value) => {
    if (Array.isArray(value?.enum)) enums.push(value);
    return value as unknown;
  });
  expect(enums.length).toBeGreaterThan(100);
  expect(enums.filter(({ type }) => type === undefined)).toEqual([]);
});

it('the OpenAPI document lists and describes each tag once', () => {
  const listed = document.tags.map(({ name }) => name);
  expect(new Set(listed).size).toBe(listed.length);
  expect(new Set(listed)).toEqual(new Set(operations.flatMap(({ operation }) => operation.tags)));
  for (const { description } of document.tags) expect(description).toMatch(/\w.*\.$/);
});

describe('response headers', () => {
  const OURS = /^(?:request-id|service-version|ratelimit-\w+|retry-after|idempotent-replayed|preference-applied)$/;
  let key: string;
  beforeAll(async () => {
    key = (await createCustomer(api.orm)).keys.test;
  });
  const submit = () =>
    read(api, { key, idempotencyKey: 'headers-of-answers', headers: { Prefer: 'wait=0', 'Request-Id': 'my-request' } });

  function documented(path: string, method: string, status: number): string[] {
    const response = document.paths[path]?.[method]?.responses[status];
    const { headers } = response?.$ref
      ? (document.components.responses[response.$ref.replace(/.*\//, '')] ?? {})
      : (response ?? {});
    return Object.keys(headers ?? {}).map((name) => name.toLowerCase());
  }

  it.each([
    ['/v1/jobs', 'get', () => api.call('/v1/jobs', { key })],
    ['/v1/jobs', 'get', () => api.call('/v1/jobs')],
    ['/v1/jobs/{id}', 'get', () => api.call('/v1/jobs/job_11111111', { key })],
    [endpointPath('dashboard.read'), 'post', submit],
    [endpointPath('dashboard.read'), 'post', submit],
    ['/mgmt/v1/jobs', 'get', () => api.call('/mgmt/v1/jobs')],
    ['/.well-known/jwks.json', 'get', () => api.call('/.well-known/jwks.json')],
  ])('response headers of %s, %s, are those that are documented', async (path, method, send) => {
    const answer = await send();
    const sent = [...answer.headers.keys()].filter((name) => OURS.test(name));
    const described = documented(path, method, answer.status);
    expect(sent).toEqual(expect.arrayContaining(['request-id', 'service-version']));
    expect(described).toEqual(expect.arrayContaining(answer.status < 400 ? sent : ['request-id', 'service-version']));
  });

  it('response headers include Retry-After on retryable errors, and Range on an incomplete upload', () => {
    expect(documented('/v1/jobs', 'get', 429)).toEqual(expect.arrayContaining(['retry-after', 'ratelimit-reset']));
    expect(documented('/v1/jobs', 'get', 503)).toContain('retry-after');
    expect(documented('/v1/uploads/{id}/content', 'put', 308)).toContain('range');
  });

  it.each([
    ['any Request-Id', 'Request-Id', { type: 'string' }],
    ['no other Service-Version', 'Service-Version', { type: 'string', const: API_VERSION }],
  ])('every operation accepts %s, as the service does', (_, header, accepted) => {
    for (const { operation } of operations) {
      const { schema } = operation.parameters?.find(({ name }) => name === header) ?? {};
      expect(schema).toEqual(accepted);
    }
  });

  it('every operation accepts the common request headers', () => {
    for (const { operation } of operations) {
      const names = (operation.parameters ?? []).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['Request-Id', 'Service-Version']));
    }
  });
});

describe.each(endpoints.map((endpoint) => ({ slug: endpoint.slug, endpoint })))('$slug', ({ slug, endpoint }) => {
  const operation = () => document.paths[endpointPath(slug)]?.post as OpenApiOperation;

  it(`${slug} is described as in its contract: price, scenarios, wait`, () => {
    expect(operation()).toMatchObject({
      operationId: slug,
      summary: endpoint.title,
      'x-price-credits': endpoint.priceCredits,
      'x-test-scenarios': endpoint.scenarios,
    });
    const names = operation().parameters?.map(({ name }) => name) ?? [];
    expect(names).toEqual(expect.arrayContaining(['Idempotency-Key', 'X-Service-Test-Scenario']));
    expect(names.includes('wait')).toBe(endpoint.acceptsWait);
  });

  it(`${slug} states the number, formats and sizes of its files, and the meaning of its scenarios`, () => {
    const { description = '', parameters = [] } = operation();
    const { mediaTypes, directMediaTypes, maximum, maximumBytes } = endpoint.files;
    for (const mediaType of mediaTypes) {
      expect(description.toLowerCase()).toContain(mediaType.replace(/^\w+\//, ''));
      expect(description).toContain(mediaType.startsWith('video/') ? 'at most 2 GB' : 'at most 50 MB');
    }
    if (maximum > 0) expect(description).toContain(maximum === 1 ? '1 file' : `${maximum} files`);
    if (directMediaTypes.length > 0) expect(description).toContain(`at most ${maximumBytes / 1_048_576} MB`);
    const steering = parameters.find(({ name }) => name === 'X-Service-Test-Scenario')?.description ?? '';
    for (const [name, meaning] of Object.entries(endpoint.scenarios)) {
      expect(steering).toContain(`\`${name}\`: ${meaning}`);
    }
  });

  it(`${slug} has the same parameters in both encodings`, () => {
    const wanted = Object.keys(endpoint.parameters.properties);
    for (const { schema } of Object.values(operation().requestBody?.content ?? {})) {
      const properties = Object.keys((schema as { properties: object }).properties);
      expect(properties).toEqual(expect.arrayContaining(wanted));
      expect(properties.length - wanted.length).toBeLessThanOrEqual(1);
    }
  });
});

it('the Job schema has the statuses and the id of the specification', () => {
  expect(document.components.schemas.Job).toMatchObject({
    properties: {
      id: { pattern: '^job_[1-9A-HJ-NP-Za-km-z]{8,32}$' },
      status: { enum: [...JOB_STATUSES] },
    },
  });
});

function examplesOf({
  example,
  examples = {},
}: {
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
} = {}) {
  return [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)];
}

describe('the response check of every test', () => {
  const check = createOpenApiCheck(endpoints);
  const answered = {
    method: 'GET',
    path: '/v1/jobs/job_11111111',
    status: 200,
    contentType: 'application/json',
    text: '{}',
  };

  it('the response check of every test detects undocumented responses', () => {
    expect(check(answered)).toMatch(/GET \/v1\/jobs\/\{id\} 200: .*required property 'id'/);
    expect(check({ ...answered, status: 418 })).toMatch(/does not document the status 418/);
    expect(check({ ...answered, contentType: 'text/html' })).toMatch(/answers text\/html/);
    const error = { type: 'authentication_error', code: 'missing_token', message: '-', doc_url: 'https://a.example' };
    const text = JSON.stringify({ error: { ...error, request_id: 'req_1' } });
    expect(check({ ...answered, status: 401, text })).toMatch(/does not document the code missing_token/);
    expect(check({ ...answered, status: 404, text: '{"error":{"code":"resource_not_found"}}' })).toMatch(/message/);
  });

  it('the response check of every test accepts every example', () => {
    const examples = operations.flatMap(({ path, method, operation }) =>
      Object.entries(operation.responses).flatMap(([status, { content }]) =>
        examplesOf(content?.['application/json']).map((value) => ({
          method,
          path: path.replace(/\{\w+\}/g, 'x'),
          status: Number(status),
          contentType: 'application/json',
          text: JSON.stringify(value),
        })),
      ),
    );
    expect(examples.filter(({ path }) => path === '/v1/jobs/x')).toHaveLength(2);
    expect(examples.map(check).filter((problem) => problem !== null)).toEqual([]);
  });

  it('the response check of every test ignores paths that are not operations', () => {
    expect(check({ ...answered, path: '/health/live' })).toBeNull();
  });
});
