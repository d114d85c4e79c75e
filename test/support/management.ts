/** Members of an organisation that call the management API. */
import type { Role } from '../../src/organizations/roles.ts';
import type { Answer, TestApi } from './api.ts';

export interface ManagementCall {
  method?: string;
  body?: unknown;
  role?: Role;
  userId?: string;
  organizationId?: string;
  idempotencyKey?: string;
  headers?: Record<string, string>;
}

/** Creates callers of one organisation; the default role is owner. */
export function managing(api: TestApi, organizationId: string) {
  return async (path: string, call: ManagementCall = {}): Promise<Answer> => {
    const { method = call.body === undefined ? 'GET' : 'POST', body, idempotencyKey, headers, ...member } = call;
    const key = await api.identity.token({ organizationId, userId: OWNER, ...member });
    return api.call(`/mgmt/v1${path}`, {
      method,
      key,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  };
}

const OWNER = 'usr_1CoTsd5kMvWzrNbUoFgrYp';
