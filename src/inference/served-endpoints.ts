/** The endpoints of one step that can be served in live mode: those that have a pipeline, with the task it asks for. */
import { existsSync } from 'node:fs';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import { importPipeline, pipelineUrl } from './endpoint-folder.ts';
import type { Log } from './log.ts';

export interface ServedEndpoint {
  endpoint: string;
  /** The `task` in `model.json` of the models that it runs on. */
  task: string;
  /** Module of its pipeline, as a `file:` URL. */
  pipelineUrl: string;
}

interface Options {
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  logger: Log;
}

/** One whose pipeline cannot be loaded is logged with the reason and left out. */
export async function findServedEndpoints(options: Options): Promise<ServedEndpoint[]> {
  const { endpoints, endpointsDirectory, logger } = options;
  const served: ServedEndpoint[] = [];
  const withoutPipeline: string[] = [];
  for (const { slug: endpoint } of endpoints) {
    const url = pipelineUrl(endpointsDirectory, endpoint);
    if (!existsSync(url)) {
      withoutPipeline.push(endpoint);
      continue;
    }
    try {
      const { task } = await importPipeline(url);
      served.push({ endpoint, task, pipelineUrl: url.href });
    } catch (error) {
      logger.error({ endpoint, reason: (error as Error).message }, 'the pipeline of an endpoint cannot be loaded');
    }
  }
  if (withoutPipeline.length > 0) {
    logger.info({ endpoints: withoutPipeline }, 'endpoints without a pipeline answer in test mode only');
  }
  return served;
}
