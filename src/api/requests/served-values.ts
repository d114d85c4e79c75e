/** Parameter values that the installed model does not serve. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { readServedValuesOf } from '../../jobs/installed-endpoints-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';

interface Requested {
  parameters: Readonly<Record<string, unknown>>;
  /** The pinned build; null for the default one. */
  modelVersion: string | null;
}

/**
 * Why the model cannot serve the request in live mode, or null. A list is refused if none of its values is served: the
 * result reports the others as not supported.
 */
export async function refuseUnserved(
  context: ApiContext,
  { slug, modelParameters = [] }: EndpointContract,
  { parameters, modelVersion }: Requested,
): Promise<ServiceError | null> {
  const { em, apiKey } = context.state;
  if (!apiKey.livemode || modelParameters.length === 0) return null;
  const served = (await readServedValuesOf(em, { endpoint: slug, modelVersion })) ?? {};
  for (const param of modelParameters) {
    const values = served[param];
    const requested = [parameters[param]].flat().filter((value): value is string => typeof value === 'string');
    if (!values || requested.length === 0 || requested.some((value) => values.includes(value))) continue;
    const message =
      `The installed model of ${slug} does not serve "${param}": ${requested.join(', ')}. It serves ` +
      `${values.length > 0 ? values.join(', ') : 'no value'}. GET /v1/endpoints lists the available values.`;
    return new ServiceError('endpoint_unavailable', message, { param, headers: { 'Retry-After': '60' } });
  }
  return null;
}
