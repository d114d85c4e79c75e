import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FAMILIES } from '../../src/contracts/endpoint-contract.ts';
import {
  grantsScope,
  normalizeScopes,
  permissionsOf,
  SCOPE_CATALOGUE,
  SDKS,
  WILDCARD_SCOPE,
} from '../../src/organizations/scopes.ts';

const families = FAMILIES.map((family) => `${family}:write`);
const sdkScopes = SDKS.flatMap((sdk) => [`sdk:${sdk}:read`, `sdk:${sdk}:write`]);

it('an empty list of scopes grants nothing', () => {
  for (const scope of SCOPE_CATALOGUE) expect(grantsScope([], scope)).toBe(false);
});

it('every scope of the catalogue grants itself', () => {
  for (const scope of SCOPE_CATALOGUE) expect(grantsScope([scope], scope)).toBe(true);
});

describe('the wildcard', () => {
  it('the wildcard grants every family, jobs and storage', () => {
    for (const scope of [...families, 'jobs:read', 'storage:read', 'storage:write']) {
      expect(grantsScope([WILDCARD_SCOPE], scope)).toBe(true);
    }
  });

  it('the wildcard grants no SDK scope', () => {
    for (const scope of sdkScopes) expect(grantsScope([WILDCARD_SCOPE], scope)).toBe(false);
  });
});

describe('a family', () => {
  it('a family grants no other family', () => {
    for (const granted of families) {
      expect(families.filter((scope) => grantsScope([granted], scope))).toEqual([granted]);
    }
  });

  it('a family grants reading jobs and nothing of the storage', () => {
    for (const granted of families) {
      expect(grantsScope([granted], 'jobs:read')).toBe(true);
      expect(grantsScope([granted], 'storage:read')).toBe(false);
    }
  });
});

describe('write and read scopes', () => {
  it.each(['storage', ...SDKS.map((sdk) => `sdk:${sdk}`)])(
    'write implies read for %s, and read never implies write',
    (name) => {
      expect(grantsScope([`${name}:write`], `${name}:read`)).toBe(true);
      expect(grantsScope([`${name}:read`], `${name}:write`)).toBe(false);
    },
  );

  it('write implies read for the same SDK only', () => {
    expect(grantsScope(['sdk:player:write'], 'sdk:capture:read')).toBe(false);
  });
});

it('an additional scope never removes a permission', () => {
  const scope = fc.constantFrom(...SCOPE_CATALOGUE);
  fc.assert(
    fc.property(fc.array(scope), scope, scope, (granted, further, required) => {
      if (grantsScope(granted, required)) expect(grantsScope([...granted, further], required)).toBe(true);
    }),
  );
});

it('the normal form of scopes grants the same and does not depend on order or repetition', () => {
  const granted = fc.array(fc.constantFrom(...SCOPE_CATALOGUE));
  fc.assert(
    fc.property(granted, (scopes) => {
      const normalized = normalizeScopes(scopes);
      expect(permissionsOf(normalized)).toEqual(permissionsOf(scopes));
      expect(normalizeScopes([...scopes, ...scopes].reverse())).toEqual(normalized);
      expect(normalizeScopes(normalized)).toEqual(normalized);
    }),
  );
});
