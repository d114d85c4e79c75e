/** The OpenAPI 3.1 document, derived from the endpoints' contracts: the schemas in it are those that validate. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { endpointPath } from '../../domain/endpoint-path.ts';
import { API_VERSION } from '../../domain/job-event.ts';
import { operations } from '../management/operations.ts';
import { listEventsParameters } from '../routes/events.ts';
import { listJobsParameters } from '../routes/jobs.ts';
import { withEnumTypes } from './enum-types.ts';
import { errorExamples } from './error-examples.ts';
import { answerHeaders, withErrorHeaders, withHeaders } from './headers.ts';
import { licensePaths } from './licenses.ts';
import { managementPaths } from './management.ts';
import { operationExamples } from './operation-examples.ts';
import {
  artefactOperation,
  errorResponses,
  inferenceOperation,
  itemActionOperation,
  itemOperation,
  listOperation,
  resultName,
  streamOperation,
  uploadContentOperation,
  uploadOperation,
} from './operations.ts';
import { schemas } from './schemas.ts';
import { tags } from './tags.ts';
import { withExamples, withResponseExamples } from './with-examples.ts';

export function buildOpenApi(endpoints: readonly EndpointContract[], publicBaseUrl: string) {
  return withEnumTypes({
    openapi: '3.1.0',
    info: {
      title: 'Vehicle Inference Service',
      version: API_VERSION,
      description:
        'Photos and videos of vehicles in; facts, prices and finished pictures out.\n\n' +
        'Every answer carries `Request-Id` and `Service-Version`. Every answer to a request whose key was found good ' +
        'carries `RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset` (seconds) and `RateLimit-Policy`; one of ' +
        'an endpoint carries `Concurrency-Limit`, the jobs that may be open at once. An answer of 401 cannot: whose limits ' +
        'they would be, is not known.\n\n' +
        'Errors have one body and a code with [a page of its own](/docs/errors).',
    },
    servers: [{ url: publicBaseUrl }],
    security: [{ apiKey: [] }],
    tags,
    paths: withHeaders(
      withExamples(
        {
          ...inferencePaths(endpoints),
          ...sharedPaths(endpoints),
          ...licensePaths,
          ...managementPaths(operations),
        },
        operationExamples(endpoints, publicBaseUrl),
      ),
    ),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `chk_…`.' },
        memberToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: "A short-lived token of the organisation's authentication service.",
        },
      },
      headers: answerHeaders,
      responses: withErrorHeaders(withResponseExamples(errorResponses, errorExamples(publicBaseUrl))),
      schemas: {
        ...schemas,
        Job: ofKnownEndpoints(schemas.Job, endpoints),
        ...Object.fromEntries(endpoints.map((endpoint) => [resultName(endpoint), endpoint.result])),
      },
    },
  });
}

function ofKnownEndpoints({ properties, ...job }: typeof schemas.Job, endpoints: readonly EndpointContract[]) {
  const slugs = endpoints.map(({ slug }) => slug);
  return { ...job, properties: { ...properties, endpoint: { ...properties.endpoint, enum: slugs } } };
}

function inferencePaths(endpoints: readonly EndpointContract[]) {
  return Object.fromEntries(
    endpoints.flatMap((endpoint) =>
      [endpoint.slug, ...(endpoint.aliases ?? [])].map((slug) => [
        endpointPath(slug),
        { post: { ...inferenceOperation(endpoint), operationId: slug } },
      ]),
    ),
  );
}

function sharedPaths(endpoints: readonly EndpointContract[]) {
  const job = (operationId: string, summary: string) => ({ operationId, summary, tag: 'Jobs' });
  return {
    '/v1/jobs': {
      get: listOperation(job('listJobs', 'List jobs, newest first'), 'Job', listJobsParameters(endpoints)),
    },
    '/v1/jobs/{id}': { get: itemOperation(job('getJob', 'Read a job'), 'Job') },
    '/v1/jobs/{id}/cancel': { post: itemActionOperation(job('cancelJob', 'Cancel a queued job'), 'Job') },
    '/v1/jobs/{id}/events': {
      get: streamOperation(
        job('streamJob', 'Follow a job as server-sent events'),
        'An event `job.<status>` with the Job at every change, until it has ended.',
      ),
    },
    '/v1/events': {
      get: listOperation(
        { operationId: 'listEvents', summary: 'List events of the last 30 days', tag: 'Events' },
        'Event',
        listEventsParameters,
      ),
    },
    '/v1/events/{id}': {
      get: itemOperation({ operationId: 'getEvent', summary: 'Read an event', tag: 'Events' }, 'Event'),
    },
    '/v1/uploads': {
      post: uploadOperation({ operationId: 'createUpload', summary: 'Upload a file for later jobs', tag: 'Uploads' }),
    },
    '/v1/uploads/{id}': {
      get: itemOperation({ operationId: 'getUpload', summary: 'Read an upload', tag: 'Uploads' }, 'Upload'),
    },
    '/v1/uploads/{id}/content': {
      put: uploadContentOperation({
        operationId: 'putUploadContent',
        summary: 'Send the bytes of an upload',
        tag: 'Uploads',
      }),
    },
    '/v1/artefacts/{name}': {
      get: artefactOperation({ operationId: 'getArtefact', summary: 'Get a file that a job made', tag: 'Artefacts' }),
    },
    '/v1/endpoints': {
      get: listOperation(
        {
          operationId: 'listEndpoints',
          summary: 'What can be called, for how much',
          tag: 'Availability',
          anyKey: true,
        },
        'Endpoint',
      ),
    },
  };
}
