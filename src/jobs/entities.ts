/** Rows of jobs and events. Columns are the snake_case of the properties. */
import { defineEntity, p } from '@mikro-orm/core';
import type { JobError } from '../contracts/error-codes.ts';
import type { CreditEventType, EventType, JobInput, JobStage, JobStatus } from '../contracts/job.ts';

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
    /** The build that the request pins; null when it pins none. */
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

const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    livemode: p.boolean(),
    isStaging: p.boolean(),
    type: p.text().$type<EventType | CreditEventType>(),
    /** Null for an event of credits, and for a test event, which shows an example job. */
    jobId: p.text().strictNullable(),
    /** That of the job, null without one. Set by PostgreSQL. */
    endpoint: p.text().nullable(),
    isTest: p.boolean().default(false),
    /** The exact bytes that every delivery carries and signs. */
    payload: p.text(),
    createdAt: p.datetime(),
  },
});
export class Event extends EventSchema.class {}
EventSchema.setClass(Event);
