/** `Model-Version`: the build that must answer a request. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FIXTURE_VERSION, MODEL_VERSION } from '../../contracts/model-versions.ts';
import { readInstalledEndpoints } from '../../db/jobs/installed-endpoints.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';

/** The build that the request pins, or null for whichever is installed. @throws ServiceError for one that is not installed */
export async function readModelVersion(context: ApiContext, { slug }: EndpointContract): Promise<string | null> {
  // An empty one pins nothing, and was meant to: it is refused, not ignored.
  if (context.headers['model-version'] === undefined) return null;
  const wanted = context.get('Model-Version');
  if (!MODEL_VERSION.test(wanted)) {
    throw new ServiceError(
      'parameter_invalid',
      'Model-Version must be <model>@<release date>, as jobs report it in "model_version".',
      { param: 'Model-Version' },
    );
  }
  const { em, apiKey } = context.state;
  const installed = apiKey.livemode ? (await readInstalledEndpoints(em)).get(slug) : FIXTURE_VERSION;
  if (wanted === installed) return wanted;
  throw new ServiceError(
    'model_version_not_installed',
    `${slug} is answered by ${installed ?? 'no model'} in ${apiKey.livemode ? 'live' : 'test'} mode. ` +
      'Name that build in Model-Version, or leave the header out.',
    { param: 'Model-Version' },
  );
}
