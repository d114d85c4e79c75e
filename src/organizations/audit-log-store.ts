/** The audit log: one row for every change through the management API, written in its transaction. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import { newId } from '../platform/ids.ts';
import type { Role } from './roles.ts';

export interface AuditEntry {
  organizationId: string;
  userId: string;
  role: Role;
  /** Id of the operation. */
  action: string;
  targetId: string;
  /** The request body; no request contains a secret. */
  details: Record<string, unknown>;
  requestId: string;
  createdAt: Date;
}

export async function recordAudit(em: EntityManager, entry: AuditEntry): Promise<void> {
  await query(
    em,
    `insert into audit_log_entries
       (id, organization_id, user_id, role, action, target_id, details, request_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      newId('auditEntry'),
      entry.organizationId,
      entry.userId,
      entry.role,
      entry.action,
      entry.targetId,
      JSON.stringify(entry.details),
      entry.requestId,
      entry.createdAt,
    ],
  );
}
