/** Builders of OpenAPI operations, each with every status it can return. */
import type { TObject, TSchema } from 'typebox';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import { MODEL_VERSION } from '../../contracts/model-versions.ts';
import { nullable } from '../../contracts/vocabulary/schemas.ts';
import { IDEMPOTENCY_KEY_LENGTH } from '../../jobs/idempotency.ts';
import { jsonRequestSchema } from '../requests/inference-request.ts';
import { CANCEL_AFTER } from '../requests/request-options.ts';
import { announcedUpload } from '../routes/uploads.ts';
import { describeEndpoint, describeScenarios } from './endpoint-description.ts';
import { RESPONSE_CODES, responseName, type Surface } from './error-surfaces.ts';
import { exampleBody, exampleDryRun, exampleQueuedJob, exampleSettledJob } from './examples.ts';
import type { schemas } from './schemas.ts';

type SchemaName = keyof typeof schemas;

const reference = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object, description: string, examples?: object) => ({
  description,
  content: { 'application/json': { schema, ...(examples && { examples }) } },
});

/** A file part in OpenAPI 3.1. */
const binary = { type: 'string', contentMediaType: 'application/octet-stream' };

/** `components.responses`: the error responses of each surface by HTTP status, with the codes they can carry. */
export const errorResponses = Object.fromEntries(
  Object.entries(RESPONSE_CODES).map(([name, codes]) => [
    name,
    json(reference('Error'), codes.map((code) => `\`${code}\``).join(', ')),
  ]),
);

export const errorResponsesOf = (surface: Surface, ...statuses: number[]) =>
  Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${responseName(surface, status)}` }]),
  );

const errorsWithKey = (...statuses: number[]) => errorResponsesOf('key', ...statuses);

/** Possible on every operation: an invalid key, a missing scope, too many requests, an unavailable service. */
const ALWAYS = [400, 401, 403, 429, 500, 503];

interface Operation {
  operationId: string;
  summary: string;
  tag: string;
  /** Accepts any key, whatever its scopes. */
  anyKey?: true;
}

const describe = ({ operationId, summary, tag }: Operation) => ({ operationId, summary, tags: [tag] });

const idParameter = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

const lastEventIdParameter = {
  name: 'Last-Event-ID',
  in: 'header',
  schema: { type: 'string' },
  description: 'The `id` of the last event received. Browsers send it when they reconnect.',
};

/** Reads a resource by its id. */
export function itemOperation(operation: Operation, answer: SchemaName) {
  return {
    ...describe(operation),
    parameters: [idParameter],
    responses: { 200: json(reference(answer), 'The resource'), ...errorsWithKey(...ALWAYS, 404) },
  };
}

/** Acts on a resource by its id. */
export function itemActionOperation(operation: Operation, answer: SchemaName) {
  return {
    ...describe(operation),
    parameters: [idParameter, idempotencyKeyParameter],
    responses: { 200: json(reference(answer), 'The changed resource'), ...errorsWithKey(...ALWAYS, 404, 409, 415) },
  };
}

export function listOperation(operation: Operation, item: SchemaName, parameters?: TObject) {
  const properties: Record<string, TSchema> = parameters?.properties ?? {};
  const list = {
    type: 'object',
    required: ['object', 'data', 'has_more'],
    properties: {
      object: { const: 'list' },
      data: { type: 'array', items: reference(item) },
      has_more: { type: 'boolean' },
    },
    additionalProperties: false,
  };
  return {
    ...describe(operation),
    parameters: Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema })),
    responses: {
      200: json(list, 'One page of the list'),
      ...errorsWithKey(...ALWAYS.filter((status) => status !== 403 || !operation.anyKey)),
    },
  };
}

/** Streams the server-sent events of a resource. */
export function streamOperation(operation: Operation, description: string) {
  return {
    ...describe(operation),
    parameters: [idParameter, lastEventIdParameter],
    responses: {
      200: { description, content: { 'text/event-stream': { schema: { type: 'string' } } } },
      204: { description: '`Last-Event-ID` names the final event. Do not reconnect.' },
      ...errorsWithKey(...ALWAYS, 404),
    },
  };
}

export function uploadOperation(operation: Operation) {
  const file = { type: 'object', required: ['file'], properties: { file: binary }, additionalProperties: false };
  const content = { 'multipart/form-data': { schema: file }, 'application/json': { schema: announcedUpload } };
  return {
    ...describe(operation),
    parameters: [idempotencyKeyParameter],
    requestBody: { required: true, content },
    responses: {
      201: json(
        reference('Upload'),
        'The upload. An announced upload carries `upload_url`, where its content is sent.',
      ),
      ...errorsWithKey(...ALWAYS, 409, 413, 415),
    },
  };
}

/** Receives the content of an announced upload through its signed link. */
export function uploadContentOperation(operation: Operation) {
  const query = (name: string) => ({ name, in: 'query', required: true, schema: { type: 'string' } });
  const contentRange = { name: 'Content-Range', in: 'header', schema: { type: 'string' } };
  return {
    ...describe(operation),
    security: [],
    parameters: [idParameter, query('expires'), query('signature'), contentRange],
    requestBody: { required: false, content: { 'application/octet-stream': { schema: {} } } },
    responses: {
      200: json(reference('Upload'), 'The upload is complete.'),
      308: json(reference('Upload'), 'Continue after the bytes in `Range`.'),
      ...errorResponsesOf('link', 400, 404, 409, 413, 415, 500, 503),
    },
  };
}

/** Serves a file that a job produced, through its signed link. */
export function artefactOperation(operation: Operation) {
  const query = (name: string) => ({ name, in: 'query', required: true, schema: { type: 'string' } });
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    schema: { type: 'string' },
    description,
  });
  const mediaTypes = [...new Set(Object.values(ARTEFACT_MEDIA_TYPES))];
  const content = Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: {} }]));
  return {
    ...describe(operation),
    description: 'The link is part of the job result. Use it unchanged.',
    security: [],
    parameters: [
      { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
      query('expires'),
      query('signature'),
      header('Range', 'One byte range, such as `bytes=0-1023`. Several ranges return the whole file.'),
      header('If-None-Match', 'The `ETag` of an earlier response. A file never changes under its name.'),
    ],
    responses: {
      200: { description: 'The file.', content },
      206: { description: 'The requested range.', content },
      304: { description: 'Not modified.' },
      307: { description: 'The file is at `Location` for five minutes: repeat the request there, with its `Range`.' },
      ...errorResponsesOf('link', 400, 404, 416, 500, 503),
    },
  };
}

/** Name of an endpoint's result schema. */
export const resultName = ({ slug }: EndpointContract) => `${slug}.result`;

export function inferenceOperation(endpoint: EndpointContract) {
  const job = {
    allOf: [
      reference('Job'),
      { type: 'object', properties: { result: nullable({ $ref: `#/components/schemas/${resultName(endpoint)}` }) } },
    ],
  };
  const isDirect = endpoint.files.directMediaTypes.length > 0;
  const queued = { queued: { summary: 'The queued job', value: exampleQueuedJob(endpoint) } };
  const settledJob = exampleSettledJob(endpoint);
  const settled = settledJob && { settled: { summary: 'The settled job', value: settledJob } };
  const dryRun = { dry_run: { summary: 'Response to `dry_run=true`', value: exampleDryRun(endpoint) } };
  return {
    ...describe({ operationId: endpoint.slug, summary: endpoint.title, tag: endpoint.family }),
    description: describeEndpoint(endpoint),
    'x-price-credits': endpoint.priceCredits,
    'x-test-scenarios': endpoint.scenarios,
    parameters: [
      ...(endpoint.acceptsWait ? [waitParameter, preferParameter] : []),
      dryRunParameter,
      idempotencyKeyParameter,
      cancelAfterParameter,
      modelVersionParameter,
      scenarioParameter(endpoint),
    ],
    requestBody: {
      required: true,
      content: {
        ...(isDirect && { 'multipart/form-data': multipartContent(endpoint) }),
        'application/json': { schema: jsonRequestSchema(endpoint), example: exampleBody(endpoint) },
      },
    },
    responses: {
      200: endpoint.acceptsWait
        ? json(
            { anyOf: [job, reference('DryRun')] },
            'The settled job when `wait=true`, or the dry run when `dry_run=true`.',
            { ...settled, ...dryRun },
          )
        : json(reference('DryRun'), 'The dry run, when `dry_run=true`.', dryRun),
      // An endpoint without `wait` has no 200 with a job, so its settled example stands here.
      202: json(job, 'The queued job.', { ...queued, ...(!endpoint.acceptsWait && settled) }),
      ...errorsWithKey(...ALWAYS, 402, 404, 409, 413, 415),
    },
  };
}

const waitParameter = {
  name: 'wait',
  in: 'query',
  schema: { type: 'boolean', default: false },
  description: 'Holds the connection until the job settles, for at most 30 s.',
};

const preferParameter = {
  name: 'Prefer',
  in: 'header',
  schema: { type: 'string' },
  description: '`wait=<seconds>` holds the connection for that long, at most 30 s; `wait` alone for 30 s.',
};

const dryRunParameter = {
  name: 'dry_run',
  in: 'query',
  schema: { type: 'boolean', default: false },
  description: 'Validates the request, also that its files are complete, and returns its cost without creating a job.',
};

const cancelAfterParameter = {
  name: 'Cancel-After',
  in: 'header',
  schema: { type: 'string', pattern: CANCEL_AFTER.source },
  description:
    'Shortens the time a job may wait in the queue before it expires, such as `30s`, `5m` or `1h30m`; at least `5s`, at most ' +
    'the `expires_after_seconds` of the endpoint.',
};

export const modelVersionParameter = {
  name: 'Model-Version',
  in: 'header',
  schema: { type: 'string', pattern: MODEL_VERSION.source },
  description:
    'Pins a model build, as reported in `model_version` of jobs. A build that is not installed is refused before any credits are held.',
};

export const idempotencyKeyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: { type: 'string', minLength: IDEMPOTENCY_KEY_LENGTH.minimum, maxLength: IDEMPOTENCY_KEY_LENGTH.maximum },
  description: 'Makes retries of this request safe for 24 h.',
};

const scenarioParameter = (endpoint: EndpointContract) => ({
  name: 'X-Service-Test-Scenario',
  in: 'header',
  schema: { type: 'string', enum: Object.keys(endpoint.scenarios) },
  description: describeScenarios(endpoint),
});

function multipartContent({ files, parameters }: EndpointContract) {
  const parts = files.maximum === 1 ? binary : { type: 'array', items: binary, maxItems: files.maximum };
  const fields = Object.fromEntries(
    Object.entries(parameters.properties).map(([name, schema]) => [name, asField(schema)]),
  );
  return {
    schema: {
      type: 'object',
      required: [...(files.minimum > 0 ? [files.field] : []), ...(parameters.required ?? [])],
      properties: { [files.field]: parts, ...fields },
      additionalProperties: false,
    },
    encoding: { [files.field]: { contentType: files.directMediaTypes.join(', ') } },
  };
}

/** How an object or a list, which a part cannot hold as such, is written. */
function asField(schema: TSchema): TSchema {
  const { type, description } = schema as { type?: unknown; description?: string };
  const form = typeof type === 'string' ? FIELD_FORMS[type] : undefined;
  return form === undefined ? schema : { ...schema, description: description ? `${description} ${form}` : form };
}

const FIELD_FORMS: Readonly<Record<string, string>> = {
  object: 'As JSON text.',
  array: 'One part for each item, or one part with a JSON list.',
};
