/** Endpoints as both surfaces list them: availability, price and limits in one mode. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { ServedValues } from '../contracts/inference-backend.ts';
import { FIXTURE_VERSION } from '../contracts/model-versions.ts';
import { endpointPath } from '../endpoints/shared/endpoint-path.ts';
import { readInstalledEndpoints, readServedValues } from '../jobs/installed-endpoints-store.ts';
import { limitPerMinute } from '../organizations/rate-limits.ts';

export async function describeEndpoints(em: EntityManager, endpoints: readonly EndpointContract[], livemode: boolean) {
  const installed = livemode ? await readInstalledEndpoints(em) : ofFixtures(endpoints);
  const servedValues = livemode ? await readServedValues(em) : new Map<string, ServedValues>();
  return endpoints.map((endpoint) => ({
    object: 'endpoint',
    endpoint: endpoint.slug,
    path: endpointPath(endpoint.slug),
    title: endpoint.title,
    family: endpoint.family,
    scope: `${endpoint.family}:write`,
    preview: endpoint.preview,
    available: installed.has(endpoint.slug),
    model_version: installed.get(endpoint.slug)?.[0] ?? null,
    model_versions: installed.get(endpoint.slug) ?? [],
    available_values: servedValues.get(endpoint.slug) ?? {},
    price_credits: endpoint.priceCredits,
    rate_limit_per_minute: limitPerMinute(endpoint.rateLimitPerMinute, livemode),
    wait: endpoint.acceptsWait,
    expires_after_seconds: endpoint.expiryMs / 1000,
    test_scenarios: Object.keys(endpoint.scenarios),
  }));
}

/** Test mode needs no model: its one build serves every endpoint, with every value. */
const ofFixtures = (endpoints: readonly EndpointContract[]) =>
  new Map(endpoints.map(({ slug }) => [slug, [FIXTURE_VERSION]]));
