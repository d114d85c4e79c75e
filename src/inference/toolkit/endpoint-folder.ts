/** Files of an endpoint's folder, found by name, so that no list of pipelines is needed. */
import { existsSync } from 'node:fs';
import type { PipelineDefinition } from './pipeline.ts';

/** Module that exports `pipeline`, a PipelineDefinition. */
export function pipelineUrl(endpointsDirectory: URL, endpoint: string): URL {
  return new URL(`${endpoint}/pipeline.ts`, endpointsDirectory);
}

/** Module that exports `applyParameters`, which adapts a fixture's result to the request. Optional. */
export function applyParametersUrl(endpointsDirectory: URL, endpoint: string): URL {
  return new URL(`${endpoint}/apply-parameters.ts`, endpointsDirectory);
}

/** Module that exports `withReferences`: adds the results of the jobs that the parameters name. Optional. */
export function referencesUrl(endpointsDirectory: URL, endpoint: string): URL {
  return new URL(`${endpoint}/references.ts`, endpointsDirectory);
}

/** Module that exports `chargedShare`: the share of the held credits that a result is charged, 0 to 1. Optional. */
export function chargedShareUrl(endpointsDirectory: URL, endpoint: string): URL {
  return new URL(`${endpoint}/charged-share.ts`, endpointsDirectory);
}

/** Module that exports `withReport`: adds the report that the request asks for. Optional. */
export function reportUrl(endpointsDirectory: URL, endpoint: string): URL {
  return new URL(`${endpoint}/report.ts`, endpointsDirectory);
}

/** Module that exports `bundle`, a BundleDefinition. Bundles only. */
export function bundleUrl(endpointsDirectory: URL, endpoint: string): URL {
  return new URL(`${endpoint}/bundle.ts`, endpointsDirectory);
}

/** Result of a test scenario; `default` when the request names none. */
export function fixtureUrl(endpointsDirectory: URL, endpoint: string, scenario: string): URL {
  return new URL(`${endpoint}/fixtures/${scenario}.json`, endpointsDirectory);
}

/** @throws Error when the module exports no `pipeline` */
export async function importPipeline(url: URL): Promise<PipelineDefinition> {
  const module = (await import(url.href)) as { pipeline?: PipelineDefinition };
  if (!module.pipeline) throw new Error(`${url.pathname} must export \`pipeline\``);
  return module.pipeline;
}

/** The exports of an optional module; none if the folder does not have it. */
export async function importOptional<Module>(url: URL): Promise<Partial<Module>> {
  return existsSync(url) ? ((await import(url.href)) as Module) : {};
}
