/** The permissions of each role. */

export const ROLES = ['owner', 'admin', 'member', 'billing_manager'] as const;
export type Role = (typeof ROLES)[number];

const EVERYONE: readonly Role[] = ROLES;
const BUILDERS: readonly Role[] = ['owner', 'admin', 'member'];
const ADMINISTRATORS: readonly Role[] = ['owner', 'admin'];
/** Billing managers may read about money and nothing else. */
const MONEY_READERS: readonly Role[] = ['owner', 'admin', 'billing_manager'];

export const PERMISSIONS = {
  'member:read': EVERYONE,
  'organization:read': BUILDERS,
  'organization:write': ADMINISTRATORS,
  'api_key_scopes:read': ADMINISTRATORS,
  'api_keys:read': BUILDERS,
  'test_api_keys:write': BUILDERS,
  'api_keys:write': ADMINISTRATORS,
  'webhook_endpoints:read': BUILDERS,
  'webhook_endpoints:write': ADMINISTRATORS,
  'jobs:read': BUILDERS,
  'endpoints:read': BUILDERS,
  'usage:read': EVERYONE,
  'credits:read': EVERYONE,
  'credits:write': ADMINISTRATORS,
  'billing:read': MONEY_READERS,
  'billing:write': ADMINISTRATORS,
  'sdk_licenses:read': EVERYONE,
  'audit_log:read': ADMINISTRATORS,
} as const satisfies Record<string, readonly Role[]>;

export type Permission = keyof typeof PERMISSIONS;

export function isRole(text: unknown): text is Role {
  return ROLES.some((role) => role === text);
}

export function mayDo(role: Role, permission: Permission): boolean {
  return PERMISSIONS[permission].includes(role);
}
