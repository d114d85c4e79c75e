/** What a bundle consists of: the module in its endpoint's folder, and the stages of one request. */
import { existsSync } from 'node:fs';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { InferenceRequest } from '../../contracts/inference-backend.ts';
import type { StagePlan } from '../../contracts/run-bundle.ts';
import { bundleUrl } from '../toolkit/endpoint-folder.ts';
import type { BundleDefinition } from './bundle-definition.ts';

/** Activities of one bundle at a time: a large bundle must not keep the workers from other jobs. */
const ACTIVITIES_AT_A_TIME = 4;
/** An inspection of 200 pictures has some 400 events, so only videos by the dozen need a second run. */
const EVENTS_PER_RUN = 1_000;

/** The stages of a request; null for one that runs in one step. */
export function planOf(contract: EndpointContract | undefined, request: InferenceRequest): StagePlan | null {
  const { parameters, inputs } = request;
  const stages = contract?.stagePlan?.({ parameters, files: inputs }) ?? [];
  if (stages.length === 0) return null;
  return {
    stages,
    isShown: contract?.stages !== undefined,
    activitiesAtATime: ACTIVITIES_AT_A_TIME,
    eventsPerRun: EVENTS_PER_RUN,
  };
}

/** Null for an endpoint that runs in one step. */
async function loadBundle(endpointsDirectory: URL, endpoint: string): Promise<BundleDefinition<unknown> | null> {
  const url = bundleUrl(endpointsDirectory, endpoint);
  if (!existsSync(url)) return null;
  return ((await import(url.href)) as { bundle: BundleDefinition<unknown> }).bundle;
}

/** @throws Error for an endpoint whose folder has no `bundle.ts` */
export async function requireBundle(endpointsDirectory: URL, endpoint: string): Promise<BundleDefinition<unknown>> {
  const bundle = await loadBundle(endpointsDirectory, endpoint);
  if (!bundle) throw new Error(`${endpoint} has a stage plan but no bundle.ts`);
  return bundle;
}

/**
 * The bundles whose required endpoints are all installed.
 * @param versions of the installed endpoints that run in one step
 * @returns endpoint → version; its release date is the newest of the required endpoints
 */
export async function installedBundles(
  endpoints: readonly EndpointContract[],
  endpointsDirectory: URL,
  versions: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const bundles = new Map<string, string>();
  for (const { slug } of endpoints.filter(({ stagePlan }) => stagePlan)) {
    const required = (await loadBundle(endpointsDirectory, slug))?.live?.requires ?? [];
    const releases = required.flatMap((endpoint) => versions.get(endpoint)?.split('@')[1] ?? []);
    if (releases.length === 0 || releases.length < required.length) continue;
    bundles.set(slug, `${slug.replaceAll('.', '-')}@${releases.toSorted().at(-1)}`);
  }
  return bundles;
}
