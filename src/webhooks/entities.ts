/** Rows of webhook endpoints and their deliveries. Columns are the snake_case of the properties. */
import { defineEntity, p } from '@mikro-orm/core';
import { Event } from '../jobs/entities.ts';

const WebhookEndpointSchema = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    url: p.text(),
    description: p.text(),
    events: p.array(),
    status: p.text().$type<'enabled' | 'disabled'>(),
    livemode: p.boolean(),
    isStaging: p.boolean(),
    /** The signing secrets, sealed, newest first. */
    secrets: p.array(),
    /** When the second secret stops signing. */
    previousSecretExpiresAt: p.datetime().strictNullable(),
    consecutiveFailures: p.integer(),
    failingSince: p.datetime().strictNullable(),
    lastSuccessAt: p.datetime().strictNullable(),
    lastError: p.text().strictNullable(),
    createdAt: p.datetime(),
  },
});
export class WebhookEndpoint extends WebhookEndpointSchema.class {}
WebhookEndpointSchema.setClass(WebhookEndpoint);

const WebhookDeliverySchema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: p.text().primary(),
    event: () => p.manyToOne(Event).joinColumn('event_id'),
    webhookEndpoint: () => p.manyToOne(WebhookEndpoint).joinColumn('webhook_endpoint_id'),
    status: p.text().$type<'pending' | 'delivered' | 'failed'>(),
    createdAt: p.datetime(),
    completedAt: p.datetime().strictNullable(),
    workflowStartedAt: p.datetime().strictNullable(),
    /** Approximate: the workflow's timer is exact. */
    nextAttemptAt: p.datetime().strictNullable(),
    /** Id of the delivery that this one replays. */
    replayOf: p.text().strictNullable(),
  },
});
export class WebhookDelivery extends WebhookDeliverySchema.class {}
WebhookDeliverySchema.setClass(WebhookDelivery);
