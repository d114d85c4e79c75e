import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobReader } from '../jobs/readable-jobs-store.ts';
import type { CallerKey } from '../organizations/callers-store.ts';
import { grantsScope, WILDCARD_SCOPE } from '../organizations/scopes.ts';

/** What a key reads: the jobs of the endpoints that it may run. */
export function jobReaderOf(
  { organizationId, livemode, scopes }: Pick<CallerKey, 'organizationId' | 'livemode' | 'scopes'>,
  endpoints: readonly EndpointContract[],
): JobReader {
  if (scopes.includes(WILDCARD_SCOPE)) return { organizationId, livemode, endpoints: null };
  const readable = endpoints.filter(({ family }) => grantsScope(scopes, `${family}:write`)).map(({ slug }) => slug);
  return { organizationId, livemode, endpoints: readable };
}
