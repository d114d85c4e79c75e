/** `Model-Version`: the pinned build of a request, and whether it is installed. */
import type { EndpointContract, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FIXTURE_VERSION, MODEL_VERSION } from '../../contracts/model-versions.ts';
import { isAnnounced, readInstalledEndpoints } from '../../jobs/installed-endpoints-store.ts';
import { isWithdrawnEndpoint } from '../../jobs/withdrawn-endpoints-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { referenceName } from './inference-request.ts';
import { withoutBook } from './priced-by-books.ts';

/** A refusal lists only the newest other builds. */
const MAXIMUM_LISTED = 9;

/** The pinned build, or null for the default. @throws ServiceError `parameter_invalid` */
export function readModelVersion(context: ApiContext): string | null {
  // An empty header was probably meant to pin a build: refuse it rather than ignore it.
  if (context.headers['model-version'] === undefined) return null;
  const wanted = context.get('Model-Version');
  if (MODEL_VERSION.test(wanted)) return wanted;
  throw new ServiceError(
    'parameter_invalid',
    'Model-Version must be <model>@<release date>, as jobs report it in "model_version".',
    { param: 'Model-Version' },
  );
}

/** The refusal when no model can run the request: none is installed for live mode, or not the pinned build. Else null. */
export async function refuseUninstalled(
  context: ApiContext,
  { slug, usesPriceBooks }: EndpointContract,
  wanted: string | null,
): Promise<ServiceError | null> {
  const { em, apiKey, isEndpointInstalled } = context.state;
  if (apiKey.livemode && !isEndpointInstalled)
    return usesPriceBooks ? withoutBook(slug) : await unavailable(context, slug);
  if (wanted === null) return null;
  const installed = apiKey.livemode ? ((await readInstalledEndpoints(em)).get(slug) ?? []) : [FIXTURE_VERSION];
  if (installed.includes(wanted)) return null;
  const [answering = 'no model', ...others] = installed;
  return new ServiceError(
    'model_version_not_installed',
    `${slug} runs ${answering} in ${apiKey.livemode ? 'live' : 'test'} mode.${describeOthers(others)} ` +
      `Set Model-Version to ${others.length > 0 ? 'one of them' : 'that build'}, or omit the header.`,
    { param: 'Model-Version' },
  );
}

/**
 * Why no worker can run the request, or a stage that it cannot do without, or null: both may require another endpoint, as videos do. Test
 * mode requires none.
 */
export async function refuseUnservedFiles(
  context: ApiContext,
  { slug, files, stagePlan, requires: requiresOf }: EndpointContract,
  request: ValidRequest,
): Promise<ServiceError | null> {
  const { em, apiKey } = context.state;
  if (!apiKey.livemode) return null;
  const stages = (stagePlan?.(request) ?? []).filter(({ isOptional }) => !isOptional);
  const required = [...(requiresOf?.(request) ?? []), ...stages.map(({ requires = slug }) => requires)];
  for (const endpoint of required) {
    if (endpoint === slug || (await isAnnounced(em, { endpoint, modelVersion: null }))) continue;
    return await unavailable(context, endpoint, {
      reason: `This request to ${slug} needs ${endpoint} for its files. `,
      param: referenceName(files.maximum),
    });
  }
  return null;
}

async function unavailable(
  { state: { em } }: ApiContext,
  slug: string,
  { reason = '', param }: { reason?: string; param?: string } = {},
): Promise<ServiceError> {
  const why = (await isWithdrawnEndpoint(em, slug))
    ? `No inference worker with the model of ${slug} runs at the moment. Try again in a minute.`
    : `No inference worker has announced a model for ${slug} in live mode. If one is installed, the worker's log says why.`;
  return new ServiceError('endpoint_unavailable', `${reason}${why} GET /v1/endpoints lists what is available.`, {
    headers: { 'Retry-After': '60' },
    ...(param !== undefined && { param }),
  });
}

function describeOthers(others: readonly string[]): string {
  if (others.length === 0) return '';
  const named = others.slice(0, MAXIMUM_LISTED).join(', ');
  const unnamed = others.length - MAXIMUM_LISTED;
  return ` Also installed: ${named}${unnamed > 0 ? ` and ${unnamed} more, which GET /v1/endpoints lists` : ''}.`;
}
