/** Scopes of API keys: what a key may do. An empty list grants no business access. */
import { FAMILIES } from '../contracts/endpoint-contract.ts';

export const SDKS = ['player', 'capture', 'review', 'report'] as const;

const FAMILY_SCOPES = FAMILIES.map((family) => `${family}:write`);
const SDK_SCOPES = SDKS.flatMap((sdk) => [`sdk:${sdk}:read`, `sdk:${sdk}:write`]);

/** Every family, and none of the SDK scopes. */
export const WILDCARD_SCOPE = '*';

/** Every scope a key can be given. */
export const SCOPE_CATALOGUE: readonly string[] = [
  WILDCARD_SCOPE,
  'jobs:read',
  'storage:read',
  'storage:write',
  ...FAMILY_SCOPES,
  ...SDK_SCOPES,
];

/** What is granted in one form: each scope once, in the order of the catalogue, and whoever may write may read. */
export function normalizeScopes(granted: readonly string[]): string[] {
  const asked = new Set(granted);
  return SCOPE_CATALOGUE.filter((scope) => asked.has(scope) || asked.has(scope.replace(/:read$/, ':write')));
}

/** All that a key with these granted scopes may do: what they imply is spelt out. */
export function permissionsOf(granted: readonly string[]): string[] {
  return SCOPE_CATALOGUE.filter((scope) => scope !== WILDCARD_SCOPE && grantsScope(granted, scope));
}

/** Whether a key with these granted scopes may do what needs `required`. */
export function grantsScope(granted: readonly string[], required: string): boolean {
  if (granted.includes(required)) return true;
  if (required.endsWith(':read') && granted.includes(required.replace(/:read$/, ':write'))) return true;
  // Whoever runs jobs reads them.
  if (required === 'jobs:read' && granted.some((scope) => FAMILY_SCOPES.includes(scope))) return true;
  return granted.includes(WILDCARD_SCOPE) && !required.startsWith('sdk:');
}
