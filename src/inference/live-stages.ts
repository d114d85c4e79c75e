/** Live mode of bundles: each unit runs on the endpoints of one step that the stage is made of. */
import { Value } from 'typebox/value';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import { ERRORS } from '../contracts/error-codes.ts';
import type { UnitOutcome } from '../contracts/job.ts';
import { failureOfStage } from '../domain/job-stages.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { WriteArtefact } from './artefacts.ts';
import type { InferenceBackend, InferenceRequest, StageContext, StagedInference, UnitRange } from './backend.ts';
import { createLiveTools, type LiveFiles } from './live-tools.ts';
import type { Log } from './log.ts';
import type { ResultCheck } from './result-check.ts';
import type { InferOne, LiveTools, StagedEndpoint } from './staged-endpoint.ts';
import { composeOutcome, loadStagedEndpoint, planOf } from './stages.ts';

interface LiveStagesOptions {
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  check: ResultCheck;
  logger: Log;
  infer: InferenceBackend['infer'];
  writeArtefact: WriteArtefact;
  /** Where videos lie, and pictures are kept meanwhile. */
  liveFiles?: LiveFiles | undefined;
  /** Videos that are decoded at a time. */
  children: number;
  /** Most that a process which makes previews may take for its work. */
  workingMemoryBytes?: number | undefined;
}

export function createLiveStages(options: LiveStagesOptions): StagedInference {
  const { endpoints, endpointsDirectory, infer } = options;
  const contracts = new Map(endpoints.map((contract) => [contract.slug, contract]));
  const toolsFor = createLiveTools(options);

  return {
    plan: async (request) => planOf(contracts.get(request.endpoint), request),
    runUnits: async (request, range, context) => {
      const { live } = await staged(request);
      if (!live) throw new ServiceError('model_unavailable', `No model is installed for ${request.endpoint}.`);
      const { found } = context;
      const { parameters, inputs } = request;
      if (live.hasWork?.({ stage: range.stage.name, found, parameters, inputs }) === false) return { units: [] };
      const units: UnitOutcome[] = [];
      // One after another: the memory of a worker doesn't grow with the size of a bundle.
      for (let index = range.firstUnit; index < range.firstUnit + range.units; index += 1) {
        const tools = toolsFor(request, `${range.stage.name}-${index}`, {
          ...context,
          onProgress: (share) => context.onProgress(units.length + Math.floor(share * 100) / 100),
        });
        units.push(await runUnit(live, { request, range, index, context, tools }));
        context.onProgress(units.length);
      }
      return { units };
    },
    compose: async (request, ended) => composeOutcome(await staged(request), { request, ...ended }, options),
  };

  async function staged({ endpoint }: InferenceRequest): Promise<StagedEndpoint<unknown>> {
    const found = await loadStagedEndpoint(endpointsDirectory, endpoint);
    if (!found) throw new Error(`${endpoint} has a plan of stages and no run-stages.ts`);
    return found;
  }

  async function runUnit(
    live: NonNullable<StagedEndpoint<unknown>['live']>,
    {
      request,
      range,
      index,
      context,
      tools,
    }: { request: InferenceRequest; range: UnitRange; index: number; context: StageContext; tools: LiveTools },
  ): Promise<UnitOutcome> {
    const inferOne: InferOne = (endpoint, input, asked) => {
      const parameters = { ...defaultsOf(endpoint), ...asked };
      return infer({ ...request, endpoint, inputs: input ? [input] : [], parameters }, { signal: context.signal });
    };
    const { parameters, inputs } = request;
    const unit = { stage: range.stage.name, index, found: context.found, parameters, inputs };
    try {
      return await live.runUnit(unit, inferOne, tools);
    } catch (error) {
      if (context.signal.aborted || !(error instanceof ServiceError)) throw error;
      if (error.retryable && !context.isLastAttempt) throw error;
      // Such as a file store that is away: what it is called inside says nothing to the customer.
      const isOfJobs = ERRORS[error.code].type === 'processing_error';
      return { status: 'failed', error: isOfJobs ? error.toJobError() : failureOfStage('model_inference_failed') };
    }
  }

  function defaultsOf(endpoint: string): Record<string, unknown> {
    const contract = contracts.get(endpoint);
    return contract ? (Value.Default(contract.parameters, {}) as Record<string, unknown>) : {};
  }
}

/** The bundles whose parts are all installed, each with the newest of their release dates as its own. */
export async function installedBundles(
  endpoints: readonly EndpointContract[],
  endpointsDirectory: URL,
  versions: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const bundles = new Map<string, string>();
  for (const { slug } of endpoints.filter(({ stagePlan }) => stagePlan)) {
    const required = (await loadStagedEndpoint(endpointsDirectory, slug))?.live?.requires ?? [];
    const releases = required.flatMap((endpoint) => versions.get(endpoint)?.split('@')[1] ?? []);
    if (releases.length === 0 || releases.length < required.length) continue;
    bundles.set(slug, `${slug.replaceAll('.', '-')}@${releases.toSorted().at(-1)}`);
  }
  return bundles;
}
