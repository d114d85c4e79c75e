/** Webhook endpoints of the organisation. */
import { Type } from 'typebox';
import { EVENT_TYPES } from '../../contracts/job.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { findPage } from '../../platform/database/pages.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { deleteDeliveries } from '../../webhooks/deliveries-store.ts';
import { endPendingDeliveries } from '../../webhooks/delivery-records-store.ts';
import { changeEndpoint, enableEndpoint } from '../../webhooks/endpoint-lifecycle.ts';
import { renderWebhookEndpoint } from '../../webhooks/endpoint-resource.ts';
import { createWebhookEndpoint, lockWebhookEndpoint } from '../../webhooks/endpoints-store.ts';
import { WebhookEndpoint } from '../../webhooks/entities.ts';
import { rotateSigningSecret } from '../../webhooks/signing-secrets.ts';
import { pageParameters } from '../requests/query.ts';
import { epochSeconds, graceSeconds, notFound, pageOf, pathId, renderPage } from './fields.ts';
import { defineOperation, type ManagementRequest, type ManagementServices } from './operation.ts';

const TAG = 'Webhooks';

const url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description:
    'HTTPS, without user name and password; the host must resolve to public addresses only. Checked when it is set and ' +
    'before every delivery.',
});
const events = Type.Array(Type.Enum([...EVENT_TYPES]), {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  description: 'The events that the endpoint receives.',
});
const description = Type.String({ maxLength: 255 });
const status = Type.Enum(['enabled', 'disabled']);

const webhookEndpoint = {
  id: Type.String({ pattern: '^whe_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('webhook_endpoint'),
  url: Type.String(),
  description,
  events,
  status,
  livemode: Type.Boolean({ description: 'The endpoint receives events of its own mode only.' }),
  is_staging: Type.Boolean(),
  created: epochSeconds,
  consecutive_failures: Type.Integer({
    minimum: 0,
    description: 'Consecutive failed attempts; a success resets it to 0.',
  }),
  failing_since: nullable({
    ...epochSeconds,
    description: 'Time of the first of these failures. A day later the endpoint is disabled.',
  }),
  last_success_at: nullable(epochSeconds),
  last_error: nullable(Type.String({ description: 'Cause of the latest failure.' })),
  previous_secret_expires_at: nullable({
    ...epochSeconds,
    description: 'Until then the previous secret signs as well.',
  }),
};
const webhookEndpointResponse = closed(webhookEndpoint);
const responseWithSecret = closed({
  ...webhookEndpoint,
  secret: Type.String({ description: 'The signing secret. It is never shown again.' }),
});

const create = defineOperation({
  id: 'createWebhookEndpoint',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints',
  tag: TAG,
  summary: 'Create a webhook endpoint',
  permission: 'webhook_endpoints:write',
  status: 201,
  response: responseWithSecret,
  errors: ['webhook_endpoint_limit_reached'],
  showsSecret: true,
  body: Type.Object(
    {
      url,
      events,
      livemode: Type.Boolean({ description: 'false: receives the events of test keys.' }),
      is_staging: Type.Boolean({
        default: false,
        description: 'Requires livemode. Receives the events of staging keys.',
      }),
      description: Type.Optional(description),
    },
    { additionalProperties: false },
  ),
  prepare: ({ services, body }) => assertUrlAllowed(services, body.url),
  async handle({ em, services, member: { organizationId }, body, now }) {
    const { endpoint, secret } = await createWebhookEndpoint(
      em,
      {
        organizationId,
        livemode: body.livemode,
        isStaging: body.is_staging,
        url: body.url,
        events: body.events,
        description: body.description ?? '',
      },
      services.sealedSecrets,
      now,
    );
    return { ...renderWebhookEndpoint(endpoint, now), secret };
  },
});

const listEndpoints = defineOperation({
  id: 'listWebhookEndpoints',
  method: 'get',
  path: '/mgmt/v1/webhook-endpoints',
  tag: TAG,
  summary: 'List webhook endpoints, newest first',
  permission: 'webhook_endpoints:read',
  response: pageOf(webhookEndpointResponse),
  query: Type.Object(
    {
      ...pageParameters,
      livemode: Type.Optional(Type.Boolean()),
      is_staging: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  async handle({ em, member: { organizationId }, query: { livemode, is_staging: isStaging, ...page }, now }) {
    const where = {
      organizationId,
      ...(livemode !== undefined && { livemode }),
      ...(isStaging !== undefined && { isStaging }),
    };
    const found = await findPage<WebhookEndpoint>(em, WebhookEndpoint, 'webhookEndpoint', where, page);
    return renderPage(found, (endpoint) => renderWebhookEndpoint(endpoint, now));
  },
});

const getEndpoint = defineOperation({
  id: 'getWebhookEndpoint',
  method: 'get',
  path: '/mgmt/v1/webhook-endpoints/{id}',
  tag: TAG,
  summary: 'Read a webhook endpoint',
  permission: 'webhook_endpoints:read',
  response: webhookEndpointResponse,
  handle: async (request) => renderWebhookEndpoint(await findEndpoint(request), request.now),
});

const updateEndpoint = defineOperation({
  id: 'updateWebhookEndpoint',
  method: 'patch',
  path: '/mgmt/v1/webhook-endpoints/{id}',
  tag: TAG,
  summary: 'Change URL, events, description or status of a webhook endpoint',
  description:
    'Omitted fields stay unchanged. Disabling ends pending deliveries at once, as `failed`; enabling is the same as ' +
    '`…/enable`.',
  permission: 'webhook_endpoints:write',
  response: webhookEndpointResponse,
  body: Type.Object(
    {
      url: Type.Optional(url),
      events: Type.Optional(events),
      description: Type.Optional(description),
      status: Type.Optional(status),
    },
    { additionalProperties: false },
  ),
  async prepare(request) {
    const { services, body } = request;
    if (body.url === undefined) return;
    // Before the DNS look-up, so that only the organisation's own endpoints cause one.
    await findEndpoint(request);
    await assertUrlAllowed(services, body.url);
  },
  async handle(request) {
    const endpoint = await lockEndpoint(request);
    changeEndpoint(endpoint, request.body);
    if (endpoint.status === 'disabled') await endPendingDeliveries(request.em, endpoint.id, request.now);
    return renderWebhookEndpoint(endpoint, request.now);
  },
});

const deleteEndpoint = defineOperation({
  id: 'deleteWebhookEndpoint',
  method: 'delete',
  path: '/mgmt/v1/webhook-endpoints/{id}',
  tag: TAG,
  summary: 'Delete a webhook endpoint and its delivery log',
  description: 'Ends pending deliveries. The events stay available at GET /v1/events.',
  permission: 'webhook_endpoints:write',
  status: 204,
  response: Type.Null(),
  async prepare(request) {
    await deleteDeliveries(request.em, (await findEndpoint(request)).id);
  },
  async handle(request) {
    request.em.remove(await lockEndpoint(request));
  },
});

const enable = defineOperation({
  id: 'enableWebhookEndpoint',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/enable',
  tag: TAG,
  summary: 'Enable a webhook endpoint again',
  description:
    'Resets its failures, so that it has a full day again. `…/replay` delivers what failed. Repeating it changes ' +
    'nothing.',
  permission: 'webhook_endpoints:write',
  response: webhookEndpointResponse,
  async handle(request) {
    const endpoint = await lockEndpoint(request);
    enableEndpoint(endpoint);
    return renderWebhookEndpoint(endpoint, request.now);
  },
});

const rotateSecret = defineOperation({
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/rotate-secret',
  tag: TAG,
  summary: 'Give a webhook endpoint a new signing secret',
  description:
    'During the grace period each delivery is signed with both the new and the previous secret; a secret from before an ' +
    'earlier rotation stops signing at once.',
  permission: 'webhook_endpoints:write',
  response: responseWithSecret,
  showsSecret: true,
  body: Type.Object(
    {
      grace_seconds: graceSeconds('How long the previous secret goes on signing.'),
    },
    { additionalProperties: false },
  ),
  async handle(request) {
    const { services, body, now } = request;
    const endpoint = await lockEndpoint(request);
    const secret = rotateSigningSecret(endpoint, services.sealedSecrets, { graceSeconds: body.grace_seconds, now });
    return { ...renderWebhookEndpoint(endpoint, now), secret };
  },
});

export const webhookEndpointOperations = [
  create,
  listEndpoints,
  getEndpoint,
  updateEndpoint,
  deleteEndpoint,
  enable,
  rotateSecret,
];

type EndpointRequest = Pick<ManagementRequest, 'em' | 'member' | 'parameters'>;

/** @throws ServiceError `resource_not_found` */
export async function findEndpoint(request: EndpointRequest): Promise<WebhookEndpoint> {
  const id = pathId(request);
  const endpoint = await request.em.findOne(WebhookEndpoint, { id, organizationId: request.member.organizationId });
  if (!endpoint) throw notFound('webhook endpoint', id);
  return endpoint;
}

/** Like `findEndpoint`, and locks the row until the transaction ends. @throws ServiceError `resource_not_found` */
export async function lockEndpoint(request: EndpointRequest): Promise<WebhookEndpoint> {
  const id = pathId(request);
  const endpoint = await lockWebhookEndpoint(request.em, request.member.organizationId, id);
  if (!endpoint) throw notFound('webhook endpoint', id);
  return endpoint;
}

async function assertUrlAllowed(services: ManagementServices, text: string): Promise<void> {
  const problem = await services.findWebhookUrlProblem(text);
  if (problem !== null) {
    throw new ServiceError('parameter_invalid', `"url" is refused: ${problem}.`, { param: 'url' });
  }
}
