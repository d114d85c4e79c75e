/** One operation each, with every status it can answer. */
import type { TObject, TSchema } from 'typebox';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import { MODEL_VERSION } from '../../contracts/model-versions.ts';
import { nullable } from '../../contracts/vocabulary/schemas.ts';
import { IDEMPOTENCY_KEY_LENGTH } from '../../domain/idempotency.ts';
import { jsonRequestSchema } from '../requests/inference-request.ts';
import { CANCEL_AFTER } from '../requests/request-options.ts';
import { announcedUpload } from '../routes/uploads.ts';
import { RESPONSE_CODES, responseName, type Surface } from './error-surfaces.ts';
import { exampleBody, exampleDryRun, exampleQueuedJob, exampleSettledJob } from './examples.ts';
import type { schemas } from './schemas.ts';

type SchemaName = keyof typeof schemas;

const reference = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object, description: string, examples?: object) => ({
  description,
  content: { 'application/json': { schema, ...(examples && { examples }) } },
});

/** As OpenAPI 3.1 describes a file part. */
const binary = { type: 'string', contentMediaType: 'application/octet-stream' };

/** The errors of each surface by HTTP status, with the codes they can carry: `components.responses` of the document. */
export const errorResponses = Object.fromEntries(
  Object.entries(RESPONSE_CODES).map(([name, codes]) => [
    name,
    json(reference('Error'), codes.map((code) => `\`${code}\``).join(', ')),
  ]),
);

export const errorAnswersOf = (surface: Surface, ...statuses: number[]) =>
  Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${responseName(surface, status)}` }]),
  );

const errorAnswers = (...statuses: number[]) => errorAnswersOf('key', ...statuses);

/** Whatever is asked: a key that is none, a scope that is missing, too many requests, a service in trouble. */
const ALWAYS = [400, 401, 403, 429, 500, 503];

interface Operation {
  operationId: string;
  summary: string;
  tag: string;
  /** Whatever its scopes, a key will do. */
  anyKey?: true;
}

const describe = ({ operationId, summary, tag }: Operation) => ({ operationId, summary, tags: [tag] });

const idParameter = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

const lastEventIdParameter = {
  name: 'Last-Event-ID',
  in: 'header',
  schema: { type: 'string' },
  description: 'The `id` of the last event that was seen, as browsers send it when they come again.',
};

/** Reads one thing, named by its id in the path. */
export function itemOperation(operation: Operation, answer: SchemaName) {
  return {
    ...describe(operation),
    parameters: [idParameter],
    responses: { 200: json(reference(answer), 'Found'), ...errorAnswers(...ALWAYS, 404) },
  };
}

/** Changes one thing, named by its id in the path. */
export function itemActionOperation(operation: Operation, answer: SchemaName) {
  return {
    ...describe(operation),
    parameters: [idParameter, idempotencyKeyParameter],
    responses: { 200: json(reference(answer), 'Changed'), ...errorAnswers(...ALWAYS, 404, 409, 415) },
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
      200: json(list, 'One page'),
      ...errorAnswers(...ALWAYS.filter((status) => status !== 403 || !operation.anyKey)),
    },
  };
}

/** Server-sent events of one thing. */
export function streamOperation(operation: Operation, description: string) {
  return {
    ...describe(operation),
    parameters: [idParameter, lastEventIdParameter],
    responses: {
      200: { description, content: { 'text/event-stream': { schema: { type: 'string' } } } },
      204: { description: 'The event that `Last-Event-ID` names was the last: there is no reason to come again.' },
      ...errorAnswers(...ALWAYS, 404),
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
      201: json(reference('Upload'), 'The upload; one that was announced says where to PUT it.'),
      ...errorAnswers(...ALWAYS, 409, 413, 415),
    },
  };
}

/** The bytes of an announced upload, by its signed link. */
export function uploadContentOperation(operation: Operation) {
  const query = (name: string) => ({ name, in: 'query', required: true, schema: { type: 'string' } });
  const contentRange = { name: 'Content-Range', in: 'header', schema: { type: 'string' } };
  return {
    ...describe(operation),
    security: [],
    parameters: [idParameter, query('expires'), query('signature'), contentRange],
    requestBody: { required: false, content: { 'application/octet-stream': { schema: {} } } },
    responses: {
      200: json(reference('Upload'), 'The content is whole.'),
      308: json(reference('Upload'), 'Go on after the bytes of `Range`.'),
      ...errorAnswersOf('link', 400, 404, 413, 415, 500, 503),
    },
  };
}

/** A file that a job made, by its signed link. */
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
    description: 'The link is in the result of the job, and is used as it is given there.',
    security: [],
    parameters: [
      { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
      query('expires'),
      query('signature'),
      header('Range', 'One range of bytes, such as `bytes=0-1023`; of several the whole file is the answer.'),
      header('If-None-Match', 'The `ETag` of an earlier answer: the file never changes under its name.'),
    ],
    responses: {
      200: { description: 'The file.', content },
      206: { description: 'The bytes of `Range`.', content },
      304: { description: 'It is as it was.' },
      ...errorAnswersOf('link', 400, 404, 416, 500),
    },
  };
}

/** Name of an endpoint's result among the schemas of the document. */
export const resultName = ({ slug }: EndpointContract) => `${slug}.result`;

export function inferenceOperation(endpoint: EndpointContract) {
  const job = {
    allOf: [
      reference('Job'),
      { type: 'object', properties: { result: nullable({ $ref: `#/components/schemas/${resultName(endpoint)}` }) } },
    ],
  };
  const isDirect = endpoint.files.directMediaTypes.length > 0;
  const queued = { queued: { summary: 'As it is answered', value: exampleQueuedJob(endpoint) } };
  const settledJob = exampleSettledJob(endpoint);
  const settled = settledJob && { settled: { summary: 'The job once it has ended', value: settledJob } };
  const dryRun = { dry_run: { summary: 'The answer to `dry_run=true`', value: exampleDryRun(endpoint) } };
  return {
    ...describe({ operationId: endpoint.slug, summary: endpoint.title, tag: endpoint.family }),
    description: endpoint.description,
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
            'The settled job, with `wait=true`; or the answer to `dry_run=true`.',
            { ...settled, ...dryRun },
          )
        : json(reference('DryRun'), 'With `dry_run=true`.', dryRun),
      // What nobody can wait for is shown where the reader looks for it: beside the answer it comes after.
      202: json(job, 'The queued job.', { ...queued, ...(!endpoint.acceptsWait && settled) }),
      ...errorAnswers(...ALWAYS, 402, 404, 409, 413, 415),
    },
  };
}

const waitParameter = {
  name: 'wait',
  in: 'query',
  schema: { type: 'boolean', default: false },
  description: 'Holds the connection until the job has settled, 30 s at most.',
};

const preferParameter = {
  name: 'Prefer',
  in: 'header',
  schema: { type: 'string' },
  description: '`wait=<seconds>`: as `wait`, for as long as that, 30 s at most.',
};

const dryRunParameter = {
  name: 'dry_run',
  in: 'query',
  schema: { type: 'boolean', default: false },
  description: 'Answers what the request would cost and whether it is acceptable, and creates nothing.',
};

const cancelAfterParameter = {
  name: 'Cancel-After',
  in: 'header',
  schema: { type: 'string', pattern: CANCEL_AFTER.source },
  description:
    'Shortens the time after which a job that nobody picked up expires: `30s`, `5m`, `1h30m`; at least `5s`.',
};

export const modelVersionParameter = {
  name: 'Model-Version',
  in: 'header',
  schema: { type: 'string', pattern: MODEL_VERSION.source },
  description:
    'Build that must answer, as jobs report it in `model_version`: refused where it is not installed, before anything is held.',
};

export const idempotencyKeyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: { type: 'string', minLength: IDEMPOTENCY_KEY_LENGTH.minimum, maxLength: IDEMPOTENCY_KEY_LENGTH.maximum },
  description: 'Makes it safe to repeat the request for 24 h.',
};

const scenarioParameter = ({ scenarios }: EndpointContract) => ({
  name: 'X-Service-Test-Scenario',
  in: 'header',
  schema: { type: 'string', enum: Object.keys(scenarios) },
  description: 'Steers test-mode jobs; ignored by live keys.',
});

function multipartContent({ files, parameters }: EndpointContract) {
  const parts = files.maximum === 1 ? binary : { type: 'array', items: binary, maxItems: files.maximum };
  return {
    schema: {
      type: 'object',
      required: [...(files.minimum > 0 ? [files.field] : []), ...(parameters.required ?? [])],
      properties: { [files.field]: parts, ...parameters.properties },
      additionalProperties: false,
    },
    encoding: { [files.field]: { contentType: files.directMediaTypes.join(', ') } },
  };
}
