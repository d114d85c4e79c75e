/** Scopes of API keys. An empty list grants no business access. */
import { FAMILIES } from '../contracts/endpoint-contract.ts';

export const SDKS = ['player', 'capture', 'review', 'report'] as const;

const FAMILY_SCOPES = FAMILIES.map((family) => `${family}:write`);
const SDK_SCOPES = SDKS.flatMap((sdk) => [`sdk:${sdk}:read`, `sdk:${sdk}:write`]);

/** Grants every scope except the SDK scopes. */
export const WILDCARD_SCOPE = '*';

/** Every scope that a key can have. */
export const SCOPE_CATALOGUE: readonly string[] = [
  WILDCARD_SCOPE,
  'jobs:read',
  'storage:read',
  'storage:write',
  ...FAMILY_SCOPES,
  ...SDK_SCOPES,
];

/** Normal form of granted scopes: without duplicates, in catalogue order, each `:write` with its `:read`. */
export function normalizeScopes(granted: readonly string[]): string[] {
  const scopes = new Set(granted);
  return SCOPE_CATALOGUE.filter((scope) => scopes.has(scope) || scopes.has(scope.replace(/:read$/, ':write')));
}

/** Expands granted scopes to everything they imply. */
export function permissionsOf(granted: readonly string[]): string[] {
  return SCOPE_CATALOGUE.filter((scope) => scope !== WILDCARD_SCOPE && grantsScope(granted, scope));
}

/** Whether the granted scopes include or imply `required`. */
export function grantsScope(granted: readonly string[], required: string): boolean {
  if (granted.includes(required)) return true;
  if (required.endsWith(':read') && granted.includes(required.replace(/:read$/, ':write'))) return true;
  // Running jobs implies reading them. Which jobs a key reads depends on its families: src/api/job-reader.ts.
  if (required === 'jobs:read' && granted.some((scope) => FAMILY_SCOPES.includes(scope))) return true;
  return granted.includes(WILDCARD_SCOPE) && !required.startsWith('sdk:');
}
