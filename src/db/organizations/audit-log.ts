/** Who changed what: one row for every operation of the management API that changed something, in its transaction. */

import { newId } from '../../domain/ids.ts';
import type { Role } from '../../domain/roles.ts';
import { type EntityManager, query } from '../orm.ts';

export interface AuditEntry {
  organizationId: string;
  userId: string;
  role: Role;
  /** Id of the operation. */
  action: string;
  targetId: string;
  /** The request's body: no request carries a secret. */
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
