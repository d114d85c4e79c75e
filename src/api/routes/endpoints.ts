import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { readInstalledEndpoints } from '../../db/jobs/installed-endpoints.ts';
import { endpointPath } from '../../domain/endpoint-path.ts';
import type { ApiContext } from '../context.ts';
import { refuseUnknownQuery } from '../requests/request-options.ts';

/** `GET /v1/endpoints`: what can be called, for how much, and within which limits. */
export function createEndpointsRoute(endpoints: readonly EndpointContract[]) {
  return async (context: ApiContext): Promise<void> => {
    refuseUnknownQuery(context, []);
    const installed = await readInstalledEndpoints(context.state.em);
    context.body = {
      object: 'list',
      data: endpoints.map((endpoint) => ({
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
        price_credits: endpoint.priceCredits,
        rate_limit_per_minute: endpoint.rateLimitPerMinute,
        wait: endpoint.acceptsWait,
        expires_after_seconds: endpoint.expiryMs / 1000,
        test_scenarios: Object.keys(endpoint.scenarios),
      })),
      has_more: false,
    };
  };
}
