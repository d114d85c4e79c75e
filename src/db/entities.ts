/** The rows the service reads through the ORM. Columns are the snake_case of the properties. */
import { defineEntity, p } from '@mikro-orm/core';
import type { LedgerAccount, TransferKind } from '../contracts/credits.ts';
import type { JobError } from '../contracts/error-codes.ts';
import type { CreditEventType, EventType, JobInput, JobStage, JobStatus } from '../contracts/job.ts';

const OrganizationSchema = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    createdAt: p.datetime(),
  },
});
export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization);

const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    name: p.text(),
    /** Readable head of the secret, enough to recognise it in a log. */
    prefix: p.text(),
    secretHash: p.blob(),
    previousSecretHash: p.blob().strictNullable(),
    livemode: p.boolean(),
    isStaging: p.boolean(),
    scopes: p.array(),
    createdBy: p.text(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime().strictNullable(),
    revokedAt: p.datetime().strictNullable(),
    expiresAt: p.datetime().strictNullable(),
    rotatesAt: p.datetime().strictNullable(),
  },
});
export class ApiKey extends ApiKeySchema.class {}
ApiKeySchema.setClass(ApiKey);

const UploadSchema = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    livemode: p.boolean(),
    status: p.text().$type<'pending' | 'ready'>(),
    filename: p.text().strictNullable(),
    mediaType: p.text(),
    /** As announced while pending, as stored when ready. */
    bytes: p.bigint('number'),
    receivedBytes: p.bigint('number'),
    /** Hex; null while pending. */
    sha256: p.text().strictNullable(),
    storageKey: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    usedAt: p.datetime().strictNullable(),
  },
});
export class Upload extends UploadSchema.class {}
UploadSchema.setClass(Upload);

const JobSchema = defineEntity({
  name: 'Job',
  tableName: 'jobs',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    apiKeyId: p.text(),
    endpoint: p.text(),
    status: p.text().$type<JobStatus>(),
    livemode: p.boolean(),
    isStaging: p.boolean(),
    testScenario: p.text().strictNullable(),
    parameters: p.json<Record<string, unknown>>(),
    inputs: p.json<JobInput[]>(),
    reservedCredits: p.bigint('number'),
    chargedCredits: p.bigint('number'),
    /** The build that must answer, where the request asked for one. */
    pinnedModelVersion: p.text().strictNullable(),
    /** Null until the job is picked up. */
    modelVersion: p.text().strictNullable(),
    result: p.json<unknown>().strictNullable(),
    error: p.json<JobError>().strictNullable(),
    stages: p.json<JobStage[]>().strictNullable(),
    requestId: p.text(),
    idempotencyKey: p.text().strictNullable(),
    createdAt: p.datetime(),
    startedAt: p.datetime().strictNullable(),
    completedAt: p.datetime().strictNullable(),
    workflowStartedAt: p.datetime().strictNullable(),
    expiryMs: p.integer(),
    dueAt: p.datetime(),
  },
});
export class Job extends JobSchema.class {}
JobSchema.setClass(Job);

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
    /** When the second of them stops signing. */
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

const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    livemode: p.boolean(),
    isStaging: p.boolean(),
    type: p.text().$type<EventType | CreditEventType>(),
    /** Null for an event of credits, and for a test event, which tells of an example. */
    jobId: p.text().strictNullable(),
    isTest: p.boolean().default(false),
    /** The exact bytes every delivery carries and signs. */
    payload: p.text(),
    createdAt: p.datetime(),
  },
});
export class Event extends EventSchema.class {}
EventSchema.setClass(Event);

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
    /** About: the workflow is exact. */
    nextAttemptAt: p.datetime().strictNullable(),
    /** Id of the delivery that this one repeats. */
    replayOf: p.text().strictNullable(),
  },
});
export class WebhookDelivery extends WebhookDeliverySchema.class {}
WebhookDeliverySchema.setClass(WebhookDelivery);

const AuditLogEntrySchema = defineEntity({
  name: 'AuditLogEntry',
  tableName: 'audit_log_entries',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    userId: p.text(),
    role: p.text(),
    action: p.text(),
    targetId: p.text(),
    details: p.json<Record<string, unknown>>(),
    requestId: p.text(),
    createdAt: p.datetime(),
  },
});
export class AuditLogEntry extends AuditLogEntrySchema.class {}
AuditLogEntrySchema.setClass(AuditLogEntry);

const CreditTransferSchema = defineEntity({
  name: 'CreditTransfer',
  tableName: 'credit_transfers',
  properties: {
    /** A number that grows. */
    id: p.bigint('string').primary(),
    organizationId: p.text(),
    livemode: p.boolean(),
    kind: p.text().$type<TransferKind>(),
    fromAccount: p.text().$type<LedgerAccount>(),
    toAccount: p.text().$type<LedgerAccount>(),
    amount: p.bigint('number'),
    jobId: p.text().strictNullable(),
    grantId: p.text().strictNullable(),
    reason: p.text().strictNullable(),
    createdAt: p.datetime(),
  },
});
export class CreditTransfer extends CreditTransferSchema.class {}
CreditTransferSchema.setClass(CreditTransfer);

export const entities = [
  Organization,
  ApiKey,
  Upload,
  Job,
  WebhookEndpoint,
  Event,
  WebhookDelivery,
  AuditLogEntry,
  CreditTransfer,
];
