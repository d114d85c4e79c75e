/** Opens the database with the entities of every room. Only composition roots use it. */
import { CreditTransfer } from './credits/entities.ts';
import { Event, Job } from './jobs/entities.ts';
import { ApiKey, AuditLogEntry, Organization } from './organizations/entities.ts';
import { connectDatabase, type DatabaseOptions, type MikroORM } from './platform/database/orm.ts';
import { Upload } from './uploads/entities.ts';
import { WebhookDelivery, WebhookEndpoint } from './webhooks/entities.ts';

const entities = [
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

/** Fork its `em` for each request or activity; close it when the process ends. */
export function openDatabase(options: DatabaseOptions): Promise<MikroORM> {
  return connectDatabase(options, entities);
}
