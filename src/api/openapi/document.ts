/** The OpenAPI 3.1 document, derived from the endpoints' contracts: its schemas are the ones that validate requests. */

import { API_VERSION } from '../../contracts/api-version.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { endpointPath } from '../../endpoints/shared/endpoint-path.ts';
import { STREAM_LIMITS } from '../job-streams.ts';
import { operations } from '../management/operations.ts';
import { listEventsParameters } from '../routes/events.ts';
import { listJobsParameters } from '../routes/jobs.ts';
import { withEnumTypes } from './enum-types.ts';
import { errorExamples } from './error-examples.ts';
import { responseHeaders, withErrorHeaders, withHeaders } from './headers.ts';
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
        'Turns photos and videos of vehicles into facts, prices and finished images.\n\n' +
        'Every response carries `Request-Id` and `Service-Version`. Every response to an authenticated request carries ' +
        '`RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset` (seconds) and `RateLimit-Policy`; inference ' +
        'endpoints add `Concurrency-Limit`, the number of jobs that may be open at once. A 401 response carries none of ' +
        'these: there is no organisation to report a limit for.\n\n' +
        'All errors share one body, and [every error code has a page](/docs/errors).',
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
      headers: responseHeaders,
      responses: withErrorHeaders(withResponseExamples(errorResponses, errorExamples(publicBaseUrl))),
      schemas: {
        ...schemas,
        Job: ofKnownEndpoints(schemas.Job, endpoints),
        ...Object.fromEntries(endpoints.map((endpoint) => [resultName(endpoint), endpoint.result])),
      },
    },
  });
}

const streamDescription =
  'Sends an event `job.<status>` with the Job at every change, and ends after the last one. A stream also ends after ' +
  `${STREAM_LIMITS.maximumAgeMs / 60_000} minutes, and when its key stops working: reconnect with \`Last-Event-ID\`. A key ` +
  `may have ${STREAM_LIMITS.perKey} streams open.`;

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
      get: streamOperation(job('streamJob', 'Follow a job as server-sent events'), streamDescription),
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
      post: uploadOperation({
        operationId: 'createUpload',
        summary: 'Create an upload for later jobs',
        tag: 'Uploads',
      }),
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
      get: artefactOperation({
        operationId: 'getArtefact',
        summary: 'Download a file that a job produced',
        tag: 'Artefacts',
      }),
    },
    '/v1/endpoints': {
      get: listOperation(
        {
          operationId: 'listEndpoints',
          summary: 'List endpoints with availability, prices and limits',
          tag: 'Availability',
          anyKey: true,
        },
        'Endpoint',
      ),
    },
  };
}
