/** The one-step endpoints that live mode can serve: those with a pipeline, with the tasks of its models. */
import { existsSync } from 'node:fs';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { Log } from '../../platform/logging/log.ts';
import { importPipeline, pipelineUrl } from '../toolkit/endpoint-folder.ts';
import type { PipelineDefinition } from '../toolkit/pipeline.ts';

export interface ServedEndpoint {
  endpoint: string;
  /** Values of `task` in the `model.json` of its models. */
  tasks: readonly string[];
  /** Module of its pipeline, as a `file:` URL. */
  pipelineUrl: string;
}

/** What the pipeline of an endpoint serves with a model. */
export type ServedValuesOf = NonNullable<PipelineDefinition['servedValues']>;

interface Options {
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  /** Whether the package for videos works here. True when omitted. */
  decodesVideos?: boolean;
  logger: Log;
}

/**
 * An endpoint whose pipeline cannot be loaded is logged with the reason and skipped. `servedValues` is by endpoint: functions
 * cannot travel to the child processes with the rest.
 */
export async function findServedEndpoints(
  options: Options,
): Promise<{ served: ServedEndpoint[]; servedValues: Map<string, ServedValuesOf> }> {
  const { endpoints, endpointsDirectory, decodesVideos = true, logger } = options;
  const served: ServedEndpoint[] = [];
  const servedValues = new Map<string, ServedValuesOf>();
  for (const { slug: endpoint } of endpoints) {
    const url = pipelineUrl(endpointsDirectory, endpoint);
    // Bundles, and what price books answer.
    if (!existsSync(url)) continue;
    try {
      const pipeline = await importPipeline(url);
      // Left to workers that have the package.
      if (pipeline.makesFilms && !decodesVideos) continue;
      served.push({ endpoint, tasks: pipeline.tasks, pipelineUrl: url.href });
      if (pipeline.servedValues) servedValues.set(endpoint, pipeline.servedValues);
    } catch (error) {
      logger.error({ endpoint, reason: (error as Error).message }, 'the pipeline of an endpoint cannot be loaded');
    }
  }
  return { served, servedValues };
}
