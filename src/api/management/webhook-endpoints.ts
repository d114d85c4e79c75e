/** Webhook endpoints of the organisation. */
import { Type } from 'typebox';
import { EVENT_TYPES } from '../../contracts/job.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { WebhookEndpoint } from '../../db/entities.ts';
import { findPage } from '../../db/pages.ts';
import { countWebhookEndpoints, lockWebhookEndpoint } from '../../db/webhooks/webhook-endpoints.ts';
import { newId } from '../../domain/ids.ts';
import { epochSeconds as toEpochSeconds } from '../../domain/job-resource.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { newSealedSecret, rotated } from '../../domain/webhook-secrets.ts';
import { pageParameters } from '../requests/query.ts';
import { epochSeconds, notFound, pageOf, pathId, renderPage } from './fields.ts';
import { defineOperation, type ManagementRequest, type ManagementServices } from './operation.ts';

/** Of one organisation and mode: each event goes to every one of them. */
export const MOST_ENDPOINTS = 20;
const GRACE_SECONDS = { default: 86_400, maximum: 604_800 } as const;

const TAG = 'Webhooks';

const url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description:
    'HTTPS, without user name and password; its host must resolve to public addresses only. Checked now and again at ' +
    'every delivery.',
});
const events = Type.Array(Type.Enum([...EVENT_TYPES]), {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  description: 'What it is told of.',
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
  livemode: Type.Boolean({ description: 'It receives events of its own mode only.' }),
  is_staging: Type.Boolean(),
  created: epochSeconds,
  consecutive_failures: Type.Integer({
    minimum: 0,
    description: 'Failed attempts in a row; the next success sets it to 0.',
  }),
  failing_since: nullable({
    ...epochSeconds,
    description: 'When the first of them was made. A day later the endpoint is disabled.',
  }),
  last_success_at: nullable(epochSeconds),
  last_error: nullable(Type.String({ description: 'Why the latest failure was one.' })),
  previous_secret_expires_at: nullable({
    ...epochSeconds,
    description: 'Until then the secret before the latest rotation signs as well.',
  }),
};
const webhookEndpointAnswer = closed(webhookEndpoint);
const answerWithSecret = closed({
  ...webhookEndpoint,
  secret: Type.String({ description: 'The signing secret. It is shown here and never again.' }),
});

const createEndpoint = defineOperation({
  id: 'createWebhookEndpoint',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints',
  tag: TAG,
  summary: 'Make a webhook endpoint',
  permission: 'webhook_endpoints:write',
  status: 201,
  answer: answerWithSecret,
  errors: ['webhook_endpoint_limit_reached'],
  showsSecret: true,
  body: Type.Object(
    {
      url,
      events,
      livemode: Type.Boolean({ description: 'false: it receives the events of test keys.' }),
      is_staging: Type.Boolean({ default: false, description: 'Requires livemode: the events of staging keys.' }),
      description: Type.Optional(description),
    },
    { additionalProperties: false },
  ),
  prepare: ({ services, body }) => assertUrlAllowed(services, body.url),
  async handle({ em, services, member: { organizationId }, body, now }) {
    const { livemode, is_staging: isStaging } = body;
    if (isStaging && !livemode) {
      throw new ServiceError('parameter_invalid', 'Staging is live: give "livemode": true with it.', {
        param: 'is_staging',
      });
    }
    if ((await countWebhookEndpoints(em, { organizationId, livemode, isStaging })) >= MOST_ENDPOINTS) {
      throw new ServiceError(
        'webhook_endpoint_limit_reached',
        `An organisation may have ${MOST_ENDPOINTS} webhook endpoints of a mode. Delete one that is not needed.`,
      );
    }
    const id = newId('webhookEndpoint');
    const { secret, sealed } = newSealedSecret(id, services.sealedSecrets);
    const endpoint = em.create(WebhookEndpoint, {
      id,
      organizationId,
      url: body.url,
      description: body.description ?? '',
      events: withoutRepetition(body.events),
      status: 'enabled',
      livemode,
      isStaging,
      secrets: [sealed],
      previousSecretExpiresAt: null,
      consecutiveFailures: 0,
      failingSince: null,
      lastSuccessAt: null,
      lastError: null,
      createdAt: now,
    });
    return { ...render(endpoint, now), secret };
  },
});

const listEndpoints = defineOperation({
  id: 'listWebhookEndpoints',
  method: 'get',
  path: '/mgmt/v1/webhook-endpoints',
  tag: TAG,
  summary: 'List webhook endpoints, newest first',
  permission: 'webhook_endpoints:read',
  answer: pageOf(webhookEndpointAnswer),
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
    const found = await findPage<WebhookEndpoint>(em, WebhookEndpoint, where, page);
    return renderPage(found, (endpoint) => render(endpoint, now));
  },
});

const getEndpoint = defineOperation({
  id: 'getWebhookEndpoint',
  method: 'get',
  path: '/mgmt/v1/webhook-endpoints/{id}',
  tag: TAG,
  summary: 'Read a webhook endpoint',
  permission: 'webhook_endpoints:read',
  answer: webhookEndpointAnswer,
  handle: async (request) => render(await findEndpoint(request), request.now),
});

const updateEndpoint = defineOperation({
  id: 'updateWebhookEndpoint',
  method: 'patch',
  path: '/mgmt/v1/webhook-endpoints/{id}',
  tag: TAG,
  summary: 'Change URL, events, description or status of a webhook endpoint',
  description:
    'What is left out stays. Disabling ends the deliveries that are under way; enabling is what `…/enable` does.',
  permission: 'webhook_endpoints:write',
  answer: webhookEndpointAnswer,
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
    // Before the look-up of a name, so that only the organisation's own endpoints cause one.
    await findEndpoint(request);
    await assertUrlAllowed(services, body.url);
  },
  async handle(request) {
    const { body, now } = request;
    const endpoint = await lockEndpoint(request);
    if (body.url !== undefined) endpoint.url = body.url;
    if (body.events !== undefined) endpoint.events = withoutRepetition(body.events);
    if (body.description !== undefined) endpoint.description = body.description;
    if (body.status === 'enabled') enable(endpoint);
    if (body.status === 'disabled') endpoint.status = 'disabled';
    return render(endpoint, now);
  },
});

const deleteEndpoint = defineOperation({
  id: 'deleteWebhookEndpoint',
  method: 'delete',
  path: '/mgmt/v1/webhook-endpoints/{id}',
  tag: TAG,
  summary: 'Delete a webhook endpoint and its delivery log',
  description: 'Deliveries that are under way end. The events themselves stay at GET /v1/events.',
  permission: 'webhook_endpoints:write',
  status: 204,
  answer: Type.Null(),
  async handle(request) {
    request.em.remove(await lockEndpoint(request));
  },
});

const enableEndpoint = defineOperation({
  id: 'enableWebhookEndpoint',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/enable',
  tag: TAG,
  summary: 'Enable a webhook endpoint again',
  description:
    'Its run of failures is forgotten: it has a whole day again. What it missed is sent by `…/replay`. Done again, it ' +
    'answers the same.',
  permission: 'webhook_endpoints:write',
  answer: webhookEndpointAnswer,
  async handle(request) {
    const endpoint = await lockEndpoint(request);
    enable(endpoint);
    return render(endpoint, request.now);
  },
});

const rotateSecret = defineOperation({
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/rotate-secret',
  tag: TAG,
  summary: 'Give a webhook endpoint a new signing secret',
  description:
    'For the time of grace each delivery is signed with both, the new one and the one until now; a secret from before ' +
    'an earlier rotation ends at once.',
  permission: 'webhook_endpoints:write',
  answer: answerWithSecret,
  showsSecret: true,
  body: Type.Object(
    {
      grace_seconds: Type.Integer({
        minimum: 0,
        maximum: GRACE_SECONDS.maximum,
        default: GRACE_SECONDS.default,
        description: 'For which the secret until now goes on signing.',
      }),
    },
    { additionalProperties: false },
  ),
  async handle(request) {
    const { services, body, now } = request;
    const endpoint = await lockEndpoint(request);
    const { secret, sealed } = newSealedSecret(endpoint.id, services.sealedSecrets);
    Object.assign(endpoint, rotated(endpoint, sealed, { graceSeconds: body.grace_seconds, now }));
    return { ...render(endpoint, now), secret };
  },
});

export const webhookEndpointOperations = [
  createEndpoint,
  listEndpoints,
  getEndpoint,
  updateEndpoint,
  deleteEndpoint,
  enableEndpoint,
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

/** As `findEndpoint`; nobody else changes it until the transaction ends. @throws ServiceError `resource_not_found` */
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

function enable(endpoint: WebhookEndpoint): void {
  endpoint.status = 'enabled';
  endpoint.consecutiveFailures = 0;
  endpoint.failingSince = null;
}

const withoutRepetition = (items: readonly string[]) => [...new Set(items)];

function render(endpoint: WebhookEndpoint, now: Date) {
  const { previousSecretExpiresAt: previous } = endpoint;
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.events,
    status: endpoint.status,
    livemode: endpoint.livemode,
    is_staging: endpoint.isStaging,
    created: toEpochSeconds(endpoint.createdAt),
    consecutive_failures: endpoint.consecutiveFailures,
    failing_since: endpoint.failingSince && toEpochSeconds(endpoint.failingSince),
    last_success_at: endpoint.lastSuccessAt && toEpochSeconds(endpoint.lastSuccessAt),
    last_error: endpoint.lastError,
    previous_secret_expires_at: previous && previous > now ? toEpochSeconds(previous) : null,
  };
}
