/** The examples of the OpenAPI document: valid, and true of test mode. */

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildOpenApi } from '../../src/api/openapi/document.ts';
import { operationExamples } from '../../src/api/openapi/operation-examples.ts';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import { ERRORS } from '../../src/contracts/error-codes.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { endpointPath } from '../../src/endpoints/shared/endpoint-path.ts';
import { exampleJobReader, exampleRequest, exampleResult } from '../../src/endpoints/shared/examples.ts';
import { createFixtureBackend } from '../../src/inference/backends/fixture-backend.ts';
import type { OpenApiDocument, OpenApiOperation } from '../support/openapi-check.ts';

const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);
const QUIET = { info: () => {}, warn: () => {}, error: () => {} };
const contracts: readonly EndpointContract[] = endpoints;

const backend = createFixtureBackend({
  logger: QUIET,
  endpoints: contracts,
  endpointsDirectory,
  writeArtefact: async ({ content, mediaType, width, height }) => ({
    id: 'art_11111111',
    object: 'artefact',
    media_type: mediaType,
    bytes: content.byteLength,
    width,
    height,
    url: 'https://api.example',
    expires_at: 0,
  }),
});

interface Content {
  schema?: object;
  example?: unknown;
  examples?: Record<string, { value: { status?: string; object?: string } }>;
}

let document: OpenApiDocument;
let ajv: Ajv2020;

beforeAll(() => {
  document = JSON.parse(JSON.stringify(buildOpenApi(contracts, 'https://api.example')));
  ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: 'openapi' }, undefined, undefined, false);
});

/** What is wrong with the example at a place of the document. */
function problemsOf(place: readonly (string | number)[], example: unknown): string {
  const pointer = [...place, 'content', 'application/json', 'schema']
    .map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = ajv.compile({ $ref: `openapi#/${pointer}` });
  return validate(example) ? '' : ajv.errorsText(validate.errors);
}

describe.each(contracts.map((endpoint) => ({ slug: endpoint.slug, endpoint })))('$slug', ({ slug, endpoint }) => {
  const path = endpointPath(slug);
  const contentOf = (part: { content?: object } | undefined) =>
    (part?.content as Record<string, Content> | undefined)?.['application/json'] ?? {};

  it(`the documentation of ${slug} shows an accepted request`, () => {
    const { example } = contentOf(document.paths[path]?.post?.requestBody);
    expect(problemsOf(['paths', path, 'post', 'requestBody'], example)).toBe('');
    expect(Object.keys(example as object).length).toBeGreaterThan(0);
    expect(endpoint.refine?.(exampleRequest(endpoint)) ?? null).toBeNull();
  });

  it(`the documentation of ${slug} shows the queued job, the ended job and a dry run`, () => {
    const responses = document.paths[path]?.post?.responses ?? {};
    const shown = Object.entries(responses).flatMap(([status, response]) =>
      Object.values(contentOf(response).examples ?? {}).map(({ value }) => ({ status, value })),
    );
    for (const { status, value } of shown)
      expect(problemsOf(['paths', path, 'post', 'responses', status], value)).toBe('');
    const places = shown.map(({ status, value }) => `${status} ${value.status ?? value.object}`);
    const settled = `${endpoint.acceptsWait ? 200 : 202} succeeded`;
    expect(places.toSorted()).toEqual([settled, '200 dry_run', '202 queued'].toSorted());
  });

  it(`the documentation of ${slug} shows the response of test mode to its example request`, async () => {
    const { parameters, files } = exampleRequest(endpoint);
    const request = {
      jobId: 'job_11111111',
      endpoint: slug,
      livemode: false,
      parameters: { ...parameters },
      inputs: files,
      testScenario: null,
      reservedCredits: endpoint.price?.({ parameters, files }) ?? endpoint.priceCredits,
    };
    const readResult = exampleJobReader(endpoint);
    const outcome = await backend.infer(request, { signal: new AbortController().signal, readResult });
    expect(outcome).toMatchObject({ status: 'succeeded', chargedCredits: request.reservedCredits });
    expect(withoutLinks(exampleResult(slug))).toEqual(withoutLinks(outcome.result));
  });

  it(`the documentation of ${slug} shows a request that keeps results of low confidence`, async () => {
    const { parameters, files } = exampleRequest(endpoint);
    const { min_confidence, ...others } = parameters as { min_confidence?: number };
    if (min_confidence === undefined) return;
    const resultOf = async (asked: Record<string, unknown>) => {
      const reservedCredits = endpoint.price?.({ parameters, files }) ?? endpoint.priceCredits;
      const job = { jobId: 'job_11111111', endpoint: slug, livemode: false, inputs: files, reservedCredits };
      const request = { ...job, parameters: asked, testScenario: 'low_confidence' };
      const readResult = exampleJobReader(endpoint);
      return (await backend.infer(request, { signal: new AbortController().signal, readResult })).result;
    };
    expect(await resultOf({ ...others, min_confidence })).toEqual(await resultOf(others));
  });
});

const operations = Object.entries(buildOpenApi(contracts, 'https://api.example').paths).flatMap(([path, methods]) =>
  Object.keys(methods as object).map((method) => ({ path, method })),
);

describe.each(operations)('$method $path', ({ path, method }) => {
  const operation = () => document.paths[path]?.[method] as OpenApiOperation;
  const json = (part: { content?: object } | undefined) =>
    (part?.content as Record<string, Content> | undefined)?.['application/json'];

  it(`the documentation of ${method} ${path} shows an accepted body when it takes JSON`, () => {
    const taken = json(operation().requestBody);
    if (!taken || Object.keys((taken.schema as { properties: object }).properties).length === 0) return;
    expect(problemsOf(['paths', path, method, 'requestBody'], taken.example)).toBe('');
    expect(taken.example).toEqual(expect.anything());
  });

  it(`the documentation of ${method} ${path} shows each successful response as returned`, () => {
    for (const [status, response] of Object.entries(operation().responses)) {
      // A file is no example of anything.
      if (response.$ref || !response.content || 'image/png' in response.content) continue;
      const all = Object.values(response.content as Record<string, Content>).flatMap(shownIn);
      expect({ status, shown: all.length > 0 }).toEqual({ status, shown: true });
      for (const value of shownIn(json(response))) {
        expect(problemsOf(['paths', path, method, 'responses', status], value)).toBe('');
        expect(value).not.toEqual({});
      }
    }
  });
});

function shownIn({ example, examples = {} }: Content = {}): unknown[] {
  return [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)];
}

it('every example belongs to an existing operation', () => {
  const ids = operations.map(({ path, method }) => document.paths[path]?.[method]?.operationId);
  expect(Object.keys(operationExamples(contracts, 'https://api.example')).filter((id) => !ids.includes(id))).toEqual(
    [],
  );
});

it('the documentation shows every possible error with this deployment’s documentation page', () => {
  const shown = Object.entries(document.components.responses).flatMap(([name, response]) => {
    const { examples = {} } = (response as { content: Record<string, Content> }).content['application/json'] ?? {};
    return Object.entries(examples).map(([code, { value }]) => ({ name, code, value }));
  });
  // The interface between clusters is not in the document.
  const answered = Object.entries(ERRORS).filter(([code, { status }]) => status !== null && code !== 'dispatch_ended');
  expect(Object.fromEntries(shown.map(({ code, name }) => [code, name.slice(-'Error000'.length)]))).toEqual(
    Object.fromEntries(answered.map(([code, { status }]) => [code, `Error${status}`])),
  );
  for (const { name, code, value } of shown) {
    expect(problemsOf(['components', 'responses', name], value)).toBe('');
    expect(value).toMatchObject({ error: { code, doc_url: `https://api.example/docs/errors/${code}` } });
  }
});

/** Without what differs from one artefact to the next. */
function withoutLinks(value: unknown): unknown {
  const isArtefact = (field: unknown) =>
    typeof field === 'object' && field !== null && 'object' in field && field.object === 'artefact';
  return JSON.parse(
    JSON.stringify(value, (_, field: unknown) =>
      isArtefact(field) ? { ...(field as object), id: '', url: '', expires_at: 0 } : field,
    ),
  );
}
