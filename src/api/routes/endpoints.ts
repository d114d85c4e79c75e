import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { ApiContext } from '../context.ts';
import { describeEndpoints } from '../endpoint-description.ts';
import { refuseUnknownQuery } from '../requests/request-options.ts';

/** `GET /v1/endpoints`: availability, price and limits of every endpoint, in the mode of the calling key. */
export function createEndpointsRoute(endpoints: readonly EndpointContract[]) {
  return async (context: ApiContext): Promise<void> => {
    refuseUnknownQuery(context, []);
    const { em, apiKey } = context.state;
    const data = await describeEndpoints(em, endpoints, apiKey.livemode);
    context.body = { object: 'list', data, has_more: false };
  };
}
