/** The folder convention of an endpoint: what its folder holds is found by name, so that no list of pipelines exists. */
import type { PipelineDefinition } from './pipeline.ts';

/** Module that exports `pipeline`, a PipelineDefinition. */
export function pipelineUrl(endpointsDirectory: URL, endpoint: string): URL {
  return new URL(`${endpoint}/pipeline.ts`, endpointsDirectory);
}

/** Module that exports `applyParameters`: makes a finished result follow the request's parameters. Optional. */
export function applyParametersUrl(endpointsDirectory: URL, endpoint: string): URL {
  return new URL(`${endpoint}/apply-parameters.ts`, endpointsDirectory);
}

/** Module that exports `stages`, a StagedEndpoint: only of bundles. */
export function runStagesUrl(endpointsDirectory: URL, endpoint: string): URL {
  return new URL(`${endpoint}/run-stages.ts`, endpointsDirectory);
}

/** Answer of test mode: one file per scenario, `default` when no scenario was named. */
export function fixtureUrl(endpointsDirectory: URL, endpoint: string, scenario: string): URL {
  return new URL(`${endpoint}/fixtures/${scenario}.json`, endpointsDirectory);
}

export async function importPipeline(url: URL): Promise<PipelineDefinition> {
  const module = (await import(url.href)) as { pipeline?: PipelineDefinition };
  if (!module.pipeline) throw new Error(`${url.pathname} must export \`pipeline\``);
  return module.pipeline;
}
