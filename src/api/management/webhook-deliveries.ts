/** The delivery log of a webhook endpoint, test events, and replays. */
import { Type } from 'typebox';
import { EVENT_TYPES } from '../../contracts/job.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { WebhookDelivery, type WebhookEndpoint } from '../../db/entities.ts';
import { findPage } from '../../db/pages.ts';
import {
  abandonDelivery,
  createTestDelivery,
  type LoggedDelivery,
  readDeliveryLog,
  repeatDelivery,
  repeatFailedDeliveries,
} from '../../db/webhooks/webhook-deliveries.ts';
import { newId } from '../../domain/ids.ts';
import { epochSeconds as toEpochSeconds } from '../../domain/job-resource.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { renderTestEvent } from '../../domain/webhook-test-event.ts';
import { endpoints } from '../../endpoints/list.ts';
import { deliverTestWebhook, startDeliverWebhook } from '../../temporal/client.ts';
import { exampleSettledJob } from '../openapi/examples.ts';
import { pageParameters } from '../requests/query.ts';
import { epochSeconds, pageOf, renderPage } from './fields.ts';
import { defineOperation, type ManagementRequest } from './operation.ts';
import { findEndpoint, lockEndpoint } from './webhook-endpoints.ts';

/** Deliveries that one request repeats. */
const MOST_REPLAYED = 500;
/** A receiver has 10 seconds; the rest is for Temporal and the worker. */
const TEST_OUTCOME_TIMEOUT_MS = 15_000;

const TAG = 'Webhooks';
const STATUSES = ['pending', 'delivered', 'failed'] as const;

const deliveryId = Type.String({ pattern: '^whd_[1-9A-HJ-NP-Za-km-z]{8,32}$' });
const answer = closed({
  id: deliveryId,
  object: Type.Literal('webhook_delivery'),
  webhook_endpoint_id: Type.String(),
  event_id: Type.String({ description: 'The `id` of the event, and the header `webhook-id` of every attempt.' }),
  event_type: Type.Enum([...EVENT_TYPES]),
  test: Type.Boolean({ description: 'Whether the event is a test event.' }),
  replay_of: nullable(Type.String({ description: 'The delivery that this one repeats.' })),
  status: Type.Enum([...STATUSES]),
  created: epochSeconds,
  completed_at: nullable(epochSeconds),
  next_attempt_at: nullable({ ...epochSeconds, description: 'Give or take a few seconds.' }),
  attempts: Type.Array(
    closed({
      attempt: Type.Integer({ minimum: 1, description: 'Its rung of the ladder.' }),
      attempted_at: epochSeconds,
      duration_ms: Type.Integer({ minimum: 0 }),
      http_status: nullable(Type.Integer({ description: 'Null when no answer came.' })),
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
  answer: pageOf(answer),
  query: Type.Object(
    { ...pageParameters, status: Type.Optional(Type.Enum([...STATUSES])) },
    { additionalProperties: false },
  ),
  async handle(request) {
    const { em } = request;
    const { status, ...page } = request.query;
    const endpoint = await findEndpoint(request);
    const where = { webhookEndpoint: endpoint.id, ...(status !== undefined && { status }) };
    const { rows, hasMore } = await findPage<WebhookDelivery>(em, WebhookDelivery, where, page);
    return renderPage({ rows: await readDeliveryLog(em, rows), hasMore }, render);
  },
});

const getDelivery = defineOperation({
  id: 'getWebhookDelivery',
  method: 'get',
  path: '/mgmt/v1/webhook-endpoints/{id}/deliveries/{delivery_id}',
  tag: TAG,
  summary: 'Read a delivery with its attempts',
  permission: 'webhook_endpoints:read',
  answer,
  handle: async (request) => readOne(request, await findDelivery(request, await findEndpoint(request))),
});

const testEndpoint = defineOperation({
  id: 'testWebhookEndpoint',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/test',
  tag: TAG,
  summary: 'Send a test event',
  description:
    'An example of `job.succeeded` with `"test": true`, whatever events the endpoint wants, in one attempt. Answers once ' +
    'the receiver has answered or its 10 seconds are over; `pending` means that it took longer than 15 seconds to get ' +
    'there. The attempt counts as any other.',
  permission: 'webhook_endpoints:write',
  answer,
  errors: ['webhook_endpoint_disabled'],
  // Outside the transaction, which must not last as long as a receiver likes.
  async prepare(request) {
    const { em, services, requestId, now } = request;
    const endpoint = await findEndpoint(request);
    assertEnabled(endpoint);
    const eventId = newId('event');
    const payload = renderTestEvent({ id: eventId, createdAt: now, job: exampleJob(endpoint), requestId });
    const id = await createTestDelivery(em, endpoint, { id: eventId, payload, createdAt: now });
    try {
      const { organizationId, livemode } = endpoint;
      await deliverTestWebhook(services.temporal, { id, organizationId, livemode }, TEST_OUTCOME_TIMEOUT_MS);
    } catch (error) {
      await abandonDelivery(em, id, now);
      throw new ServiceError('service_unavailable', 'The test event could not be sent. Try again in a moment.', {
        cause: error,
        headers: { 'Retry-After': '5' },
      });
    }
    return id;
  },
  async handle(request, id: string) {
    return readOne(request, await request.em.findOneOrFail(WebhookDelivery, { id }, { refresh: true }));
  },
});

const replayDelivery = defineOperation({
  id: 'replayWebhookDelivery',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/deliveries/{delivery_id}/replay',
  tag: TAG,
  summary: 'Deliver an event once more',
  description: 'As a new delivery with attempts of its own, and with the same event: the same id, the same bytes.',
  permission: 'webhook_endpoints:write',
  status: 201,
  answer,
  errors: ['webhook_endpoint_disabled', 'webhook_delivery_pending'],
  async handle(request) {
    const { em, services, now } = request;
    const endpoint = await lockEndpoint(request);
    assertEnabled(endpoint);
    const delivery = await findDelivery(request, endpoint);
    if (delivery.status === 'pending') {
      throw new ServiceError(
        'webhook_delivery_pending',
        'This delivery is still being tried. Repeat it once it ended.',
      );
    }
    const repeated = repeatDelivery(em, delivery, now);
    // Should this fail, the sweeper starts it.
    const { organizationId, livemode } = endpoint;
    request.afterCommit(() => startDeliverWebhook(services.temporal, { id: repeated.id, organizationId, livemode }));
    return readOne(request, repeated);
  },
});

const replayFailed = defineOperation({
  id: 'replayFailedWebhookDeliveries',
  method: 'post',
  path: '/mgmt/v1/webhook-endpoints/{id}/replay',
  tag: TAG,
  summary: 'Deliver once more what failed since a time',
  description:
    'Each event of a failed delivery that has not reached the endpoint since and is not on its way; the oldest first, ' +
    `at most ${MOST_REPLAYED}. They start within seconds. With \`has_more\`, ask again.`,
  permission: 'webhook_endpoints:write',
  answer: closed({
    object: Type.Literal('webhook_replay'),
    replayed: Type.Integer({ minimum: 0, maximum: MOST_REPLAYED }),
    has_more: Type.Boolean(),
  }),
  errors: ['webhook_endpoint_disabled'],
  body: Type.Object(
    { since: { ...epochSeconds, description: 'Deliveries made from then on. Epoch seconds, UTC.' } },
    { additionalProperties: false },
  ),
  async handle(request) {
    const endpoint = await lockEndpoint(request);
    assertEnabled(endpoint);
    const { repeated, hasMore } = await repeatFailedDeliveries(request.em, {
      webhookEndpointId: endpoint.id,
      since: new Date(request.body.since * 1_000),
      limit: MOST_REPLAYED,
    });
    return { object: 'webhook_replay', replayed: repeated, has_more: hasMore };
  },
});

export const webhookDeliveryOperations = [listDeliveries, getDelivery, testEndpoint, replayDelivery, replayFailed];

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

function assertEnabled({ status }: WebhookEndpoint): void {
  if (status === 'enabled') return;
  throw new ServiceError(
    'webhook_endpoint_disabled',
    'The endpoint is disabled, and gets no deliveries. Enable it first.',
  );
}

/** An example of a job of the endpoint's mode. */
function exampleJob({ livemode, isStaging }: WebhookEndpoint) {
  const job = endpoints.map(exampleSettledJob).find((example) => example !== null);
  if (!job) throw new Error('some endpoint has a fixture to show');
  return { ...job, livemode, is_staging: isStaging };
}

async function readOne({ em }: Pick<ManagementRequest, 'em'>, delivery: WebhookDelivery) {
  const [logged] = await readDeliveryLog(em, [delivery]);
  if (!logged) throw new Error(`delivery ${delivery.id} has an event`);
  return render(logged);
}

function render({ delivery, event, attempts }: LoggedDelivery) {
  return {
    id: delivery.id,
    object: 'webhook_delivery',
    webhook_endpoint_id: delivery.webhookEndpoint.id,
    event_id: event.id,
    event_type: event.type,
    test: event.isTest,
    replay_of: delivery.replayOf,
    status: delivery.status,
    created: toEpochSeconds(delivery.createdAt),
    completed_at: delivery.completedAt && toEpochSeconds(delivery.completedAt),
    next_attempt_at: delivery.nextAttemptAt && toEpochSeconds(delivery.nextAttemptAt),
    attempts: attempts.map(({ attempt, attemptedAt, durationMs, statusCode, error }) => ({
      attempt,
      attempted_at: attemptedAt,
      duration_ms: durationMs,
      http_status: statusCode,
      error,
    })),
  };
}
