/** Rows of organisations, their keys and their audit log. Columns are the snake_case of the properties. */
import { defineEntity, p } from '@mikro-orm/core';

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
    /** The first characters of the secret, enough to recognise it in a log. */
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
