/** The delivery log of a webhook endpoint, test events, and replays. */
import { Type } from 'typebox';
import { EVENT_TYPES } from '../../contracts/job.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { endpoints } from '../../endpoints/list.ts';
import { Event } from '../../jobs/entities.ts';
import { findPage } from '../../platform/database/pages.ts';
import { newId } from '../../platform/ids.ts';
import { ServiceError } from '../../platform/service-error.ts';
import {
  abandonDelivery,
  createTestDelivery,
  readDeliveryLog,
  replayDelivery,
  replayFailedDeliveries,
} from '../../webhooks/deliveries-store.ts';
import { renderDelivery } from '../../webhooks/delivery-resource.ts';
import { deliverTestWebhook, startDeliverWebhook, startDeliverWebhooks } from '../../webhooks/delivery-starter.ts';
import { assertEnabled } from '../../webhooks/endpoint-lifecycle.ts';
import { WebhookDelivery, type WebhookEndpoint } from '../../webhooks/entities.ts';
import { renderTestEvent } from '../../webhooks/test-event.ts';
import { exampleSettledJob } from '../openapi/examples.ts';
import { pageParameters } from '../requests/query.ts';
import { epochSeconds, notFound, pageOf, pathId, renderPage } from './fields.ts';
import { defineOperation, type ManagementRequest } from './operation.ts';
import { findEndpoint, lockEndpoint } from './webhook-endpoints.ts';

/** Deliveries replayed by one request. */
const MOST_REPLAYED = 500;
/** A receiver has 10 seconds; the rest is for Temporal and the worker. */
const TEST_OUTCOME_TIMEOUT_MS = 15_000;

const TAG = 'Webhooks';
const STATUSES = ['pending', 'delivered', 'failed'] as const;

const deliveryId = Type.String({ pattern: '^whd_[1-9A-HJ-NP-Za-km-z]{8,32}$' });
export const deliveryResponse = closed({
  id: deliveryId,
  object: Type.Literal('webhook_delivery'),
  webhook_endpoint_id: Type.String(),
  event_id: Type.String({ description: 'The `id` of the event, and the header `webhook-id` of every attempt.' }),
  event_type: Type.Enum([...EVENT_TYPES]),
  test: Type.Boolean({ description: 'Whether the event is a test event.' }),
  replay_of: nullable(Type.String({ description: 'The delivery that this one replays.' })),
  status: Type.Enum([...STATUSES]),
  created: epochSeconds,
  completed_at: nullable(epochSeconds),
  next_attempt_at: nullable({ ...epochSeconds, description: 'Accurate to a few seconds.' }),
  attempts: Type.Array(
    closed({
      attempt: Type.Integer({ minimum: 1, description: 'Its number in the backoff schedule.' }),
      attempted_at: epochSeconds,
      duration_ms: Type.Integer({ minimum: 0 }),
      http_status: nullable(Type.Integer({ description: 'Null when no response arrived.' })),
      error: nullable(Type.String({ description: 'Null for a success.' })),
    }),
  ),
});

const listDeliveries = defineOperation({
  id: 'listWebhookDeliveries',
  method: 'get',
  path: '/mgmt/v1/webhook-endpoints/{id}/deliveries',
  tag: TAG,
  summary: 'List the deliveries of a webhook endpoint with their attempts, newest first',
  permission: 'webhook_endpoints:read',
  response: pageOf(deliveryResponse),
  query: Type.Object(
    { ...pageParameters, status: Type.Optional(Type.Enum([...STATUSES])) },
    { additionalProperties: false },
  ),
  async handle(request) {
    const { em } = request;
    const { status, ...page } = request.query;
    const endpoint = await findEndpoint(request);
    const where = { webhookEndpoint: endpoint.id, ...(status !== undefined && { status }) };
    const { rows, hasMore } = await findPage<WebhookDelivery>(em, WebhookDelivery, 'webhookDelivery', where, page);
    return renderPage({ rows: await readDeliveryLog(em, rows), hasMore }, renderDelivery);
  },
});

const getDelivery = defineOperation({
  id: 'getWebhookDelivery',
  method: 'get',
  path: '/mgmt/v1/webhook-endpoints/{id}/deliveries/{delivery_id}',
  tag: TAG,
  summary: 'Read a delivery with its attempts',
  permission: 'webhook_endpoints:read',
  response: deliveryResponse,
  handle: async (request) => readOne(request, await findDelivery(request, await findEndpoint(request))),
});

const getDeliveryBody = defineOperation({
  id: 'getWebhookDeliveryBody',
  method: 'get',
  path: '/mgmt/v1/webhook-endpoints/{id}/deliveries/{delivery_id}/body',
  tag: TAG,
  summary: 'Read what every attempt of a delivery sends',
  permission: 'webhook_endpoints:read',
  response: closed({
    object: Type.Literal('webhook_delivery_body'),
    webhook_delivery_id: deliveryId,
    event_id: Type.String(),
    body: Type.String({ description: 'The exact text that is signed and sent.' }),
  }),
  async handle(request) {
    const delivery = await findDelivery(request, await findEndpoint(request));
    const event = await request.em.findOneOrFail(Event, { id: delivery.event.id });
    return {
      object: 'webhook_delivery_body',
      webhook_delivery_id: delivery.id,
      event_id: event.id,
      body: event.payload,
    };
  },
});

const testEndpoint = defineOperation({
  id: 'testWebhookEndpoint',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/test',
  tag: TAG,
  summary: 'Send a test event',
  description:
    'Sends an example of `job.succeeded` with `"test": true`, whatever events the endpoint receives, in one attempt. ' +
    'Responds once the receiver has responded or its 10 seconds have passed; `pending` means that the attempt did not end ' +
    "within 15 seconds. The attempt counts towards the endpoint's health like any other.",
  permission: 'webhook_endpoints:write',
  response: deliveryResponse,
  errors: ['webhook_endpoint_disabled'],
  // Outside the transaction, which must not wait for a receiver.
  async prepare(request) {
    const { em, services, requestId, now } = request;
    const endpoint = await findEndpoint(request);
    assertEnabled(endpoint);
    const eventId = newId('event');
    const payload = renderTestEvent({ id: eventId, createdAt: now, job: exampleJob(endpoint), requestId });
    const id = await createTestDelivery(em, endpoint, { id: eventId, payload, createdAt: now });
    if (id === null) throw notFound('webhook endpoint', endpoint.id);
    try {
      const { organizationId, livemode } = endpoint;
      await deliverTestWebhook(services.temporal, { id, organizationId, livemode }, TEST_OUTCOME_TIMEOUT_MS);
    } catch (error) {
      await abandonDelivery(em, id, now);
      throw new ServiceError('service_unavailable', 'The test event could not be sent. Try again in a few seconds.', {
        cause: error,
        headers: { 'Retry-After': '5' },
      });
    }
    return id;
  },
  async handle(request, id: string) {
    const delivery = await request.em.findOne(WebhookDelivery, { id }, { refresh: true });
    // Deleted together with its endpoint.
    if (!delivery) throw notFound('webhook endpoint', pathId(request));
    return readOne(request, delivery);
  },
});

const replay = defineOperation({
  id: 'replayWebhookDelivery',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/deliveries/{delivery_id}/replay',
  tag: TAG,
  summary: 'Replay a delivery',
  description: 'As a new delivery with its own attempts, of the same event: the same id, the same bytes.',
  permission: 'webhook_endpoints:write',
  status: 201,
  response: deliveryResponse,
  errors: ['webhook_endpoint_disabled', 'webhook_delivery_pending'],
  async handle(request) {
    const { em, services, now } = request;
    const endpoint = await lockEndpoint(request);
    assertEnabled(endpoint);
    const delivery = await findDelivery(request, endpoint);
    if (delivery.status === 'pending') {
      throw new ServiceError(
        'webhook_delivery_pending',
        'This delivery is still pending. Replay it once it has ended.',
      );
    }
    const replayed = replayDelivery(em, delivery, now);
    // If this fails, the sweeper starts it.
    const { organizationId, livemode } = endpoint;
    request.afterCommit(() => startDeliverWebhook(services.temporal, { id: replayed.id, organizationId, livemode }));
    return readOne(request, replayed);
  },
});

const replayFailed = defineOperation({
  id: 'replayFailedWebhookDeliveries',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/replay',
  tag: TAG,
  summary: 'Replay the failed deliveries since a time',
  description:
    'Replays each event whose delivery failed and that has no other delivered or pending delivery to the endpoint: ' +
    `oldest first, at most ${MOST_REPLAYED}. Replays start at once. With \`has_more\`, repeat the request.`,
  permission: 'webhook_endpoints:write',
  response: closed({
    object: Type.Literal('webhook_replay'),
    replayed: Type.Integer({ minimum: 0, maximum: MOST_REPLAYED }),
    has_more: Type.Boolean(),
  }),
  errors: ['webhook_endpoint_disabled'],
  body: Type.Object(
    { since: { ...epochSeconds, description: 'Start of the deliveries to replay. Epoch seconds, UTC.' } },
    { additionalProperties: false },
  ),
  async handle(request) {
    const { em, services, body } = request;
    const endpoint = await lockEndpoint(request);
    assertEnabled(endpoint);
    const { ids, hasMore } = await replayFailedDeliveries(em, {
      webhookEndpointId: endpoint.id,
      since: new Date(body.since * 1_000),
      limit: MOST_REPLAYED,
    });
    // If this fails, the sweeper starts them.
    const { organizationId, livemode } = endpoint;
    const deliveries = ids.map((id) => ({ id, organizationId, livemode }));
    request.afterCommit(() => startDeliverWebhooks(services.temporal, deliveries));
    return { object: 'webhook_replay', replayed: ids.length, has_more: hasMore };
  },
});

export const webhookDeliveryOperations = [
  listDeliveries,
  getDelivery,
  getDeliveryBody,
  testEndpoint,
  replay,
  replayFailed,
];

/** @throws ServiceError `resource_not_found` */
async function findDelivery(
  { em, parameters }: Pick<ManagementRequest, 'em' | 'parameters'>,
  endpoint: WebhookEndpoint,
): Promise<WebhookDelivery> {
  const id = parameters.delivery_id ?? '';
  const delivery = await em.findOne(WebhookDelivery, { id, webhookEndpoint: endpoint.id });
  if (!delivery) {
    throw new ServiceError('resource_not_found', `The endpoint has no delivery ${id}.`, { param: 'delivery_id' });
  }
  return delivery;
}

/** An example of a job of the endpoint's mode. */
function exampleJob({ livemode, isStaging }: WebhookEndpoint) {
  const job = endpoints.map(exampleSettledJob).find((example) => example !== null);
  if (!job) throw new Error('no endpoint has an example job');
  return { ...job, livemode, is_staging: isStaging };
}

async function readOne({ em }: Pick<ManagementRequest, 'em'>, delivery: WebhookDelivery) {
  const [logged] = await readDeliveryLog(em, [delivery]);
  if (!logged) throw new Error(`delivery ${delivery.id} has no event`);
  return renderDelivery(logged);
}
