/** The audit log of the organisation. */
import { Type } from 'typebox';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { AuditLogEntry } from '../../organizations/entities.ts';
import { createdWithin, findPage } from '../../platform/database/pages.ts';
import { epochSeconds as toEpochSeconds } from '../../platform/epoch-seconds.ts';
import { createdParameters, pageParameters } from '../requests/query.ts';
import { epochSeconds, pageOf, renderPage } from './fields.ts';
import { defineOperation } from './operation.ts';

const entry = closed({
  id: Type.String({ pattern: '^aud_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('audit_log_entry'),
  user_id: Type.String(),
  role: Type.String({ description: 'The role of the user at that time.' }),
  action: Type.String({ description: 'The `operationId` of the change, such as `createApiKey`.' }),
  target_id: Type.String({ description: 'Id of the changed resource.' }),
  details: Type.Object(
    {},
    { description: 'The request body, and the ids of its path besides the target. Contains no secrets.' },
  ),
  request_id: Type.String(),
  created: epochSeconds,
});

/** `actions` are the ids of the operations that write entries. */
export const auditLogOperations = (actions: readonly string[]) => [
  defineOperation({
    id: 'listAuditLogEntries',
    method: 'get',
    path: '/mgmt/v1/audit-log',
    tag: 'Audit log',
    summary: 'List changes and who made them, newest first',
    permission: 'audit_log:read',
    response: pageOf(entry),
    query: Type.Object(
      {
        ...pageParameters,
        user_id: Type.Optional(Type.String()),
        action: Type.Optional(Type.Enum([...actions])),
        target_id: Type.Optional(Type.String()),
        ...createdParameters,
      },
      { additionalProperties: false },
    ),
    async handle({ em, member: { organizationId }, query: filter }) {
      const where = {
        organizationId,
        ...(filter.user_id !== undefined && { userId: filter.user_id }),
        ...(filter.action !== undefined && { action: filter.action }),
        ...(filter.target_id !== undefined && { targetId: filter.target_id }),
        ...createdWithin(filter),
      };
      return renderPage(await findPage<AuditLogEntry>(em, AuditLogEntry, 'auditEntry', where, filter), render);
    },
  }),
];

function render(row: AuditLogEntry) {
  return {
    id: row.id,
    object: 'audit_log_entry',
    user_id: row.userId,
    role: row.role,
    action: row.action,
    target_id: row.targetId,
    details: row.details,
    request_id: row.requestId,
    created: toEpochSeconds(row.createdAt),
  };
}
