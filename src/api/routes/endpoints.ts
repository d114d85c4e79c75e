import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { endpointPath } from '../../endpoints/shared/endpoint-path.ts';
import { readInstalledEndpoints, readServedValues } from '../../jobs/installed-endpoints-store.ts';
import { limitPerMinute } from '../../organizations/rate-limits.ts';
import type { ApiContext } from '../context.ts';
import { refuseUnknownQuery } from '../requests/request-options.ts';

/** `GET /v1/endpoints`: availability, price and limits of every endpoint. */
export function createEndpointsRoute(endpoints: readonly EndpointContract[]) {
  return async (context: ApiContext): Promise<void> => {
    refuseUnknownQuery(context, []);
    const { livemode } = context.state.apiKey;
    const installed = await readInstalledEndpoints(context.state.em);
    const servedValues = await readServedValues(context.state.em);
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
        available_values: servedValues.get(endpoint.slug) ?? {},
        price_credits: endpoint.priceCredits,
        rate_limit_per_minute: limitPerMinute(endpoint.rateLimitPerMinute, livemode),
        wait: endpoint.acceptsWait,
        expires_after_seconds: endpoint.expiryMs / 1000,
        test_scenarios: Object.keys(endpoint.scenarios),
      })),
      has_more: false,
    };
  };
}
