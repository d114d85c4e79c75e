/** `Model-Version`: the build that must answer a request, and whether any can. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FIXTURE_VERSION, MODEL_VERSION } from '../../contracts/model-versions.ts';
import { readInstalledEndpoints } from '../../db/jobs/installed-endpoints.ts';
import { isWithdrawnEndpoint } from '../../db/jobs/withdrawn-endpoints.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';

/** The other builds that a refusal names: the newest. */
const MOST_NAMED = 9;

/** The build that the request pins, or null for whichever is installed. @throws ServiceError for what is no build */
export function readModelVersion(context: ApiContext): string | null {
  // An empty one pins nothing, and was meant to: it is refused, not ignored.
  if (context.headers['model-version'] === undefined) return null;
  const wanted = context.get('Model-Version');
  if (MODEL_VERSION.test(wanted)) return wanted;
  throw new ServiceError(
    'parameter_invalid',
    'Model-Version must be <model>@<release date>, as jobs report it in "model_version".',
    { param: 'Model-Version' },
  );
}

/** Why no model can answer the request, or null: none is installed for live mode, or another build than the pinned one. */
export async function refuseUninstalled(
  context: ApiContext,
  { slug }: EndpointContract,
  wanted: string | null,
): Promise<ServiceError | null> {
  const { em, apiKey, isEndpointInstalled } = context.state;
  if (apiKey.livemode && !isEndpointInstalled) {
    const why = (await isWithdrawnEndpoint(em, slug))
      ? `No inference worker with the model of ${slug} runs at the moment. Try again in a minute.`
      : `No inference worker has announced a model for ${slug} in live mode.`;
    return new ServiceError('endpoint_unavailable', `${why} GET /v1/endpoints tells what is available.`, {
      headers: { 'Retry-After': '60' },
    });
  }
  if (wanted === null) return null;
  const installed = apiKey.livemode ? ((await readInstalledEndpoints(em)).get(slug) ?? []) : [FIXTURE_VERSION];
  if (installed.includes(wanted)) return null;
  const [answering = 'no model', ...others] = installed;
  return new ServiceError(
    'model_version_not_installed',
    `${slug} is answered by ${answering} in ${apiKey.livemode ? 'live' : 'test'} mode.${saying(others)} ` +
      `Name ${others.length > 0 ? 'one of them' : 'that build'} in Model-Version, or leave the header out.`,
    { param: 'Model-Version' },
  );
}

function saying(others: readonly string[]): string {
  if (others.length === 0) return '';
  const named = others.slice(0, MOST_NAMED).join(', ');
  const unnamed = others.length - MOST_NAMED;
  return ` Also installed: ${named}${unnamed > 0 ? ` and ${unnamed} more, which GET /v1/endpoints lists` : ''}.`;
}
