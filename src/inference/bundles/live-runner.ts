/** Runs the stages of bundles in live mode: each unit on the one-step endpoints that its stage is made of. */
import { Value } from 'typebox/value';
import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { ERRORS } from '../../contracts/error-codes.ts';
import type {
  BundleInference,
  InferenceBackend,
  InferenceRequest,
  StageContext,
  UnitRange,
} from '../../contracts/inference-backend.ts';
import type { UnitOutcome } from '../../contracts/job.ts';
import { failureOfStage } from '../../jobs/job-stages.ts';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ResultCheck } from '../toolkit/result-check.ts';
import type { BundleDefinition, BundleTools, InferOne } from './bundle-definition.ts';
import { composeOutcome } from './composition.ts';
import { planOf, requireBundle } from './plan.ts';
import { type BundleFiles, createBundleTools } from './tools.ts';

interface LiveRunnerOptions {
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  check: ResultCheck;
  logger: Log;
  infer: InferenceBackend['infer'];
  /** Answers the endpoints that use price books. Absent: no book is there. */
  inferByBooks?: InferenceBackend['infer'] | undefined;
  writeArtefact: WriteArtefact;
  /** Where videos lie, and where pictures are kept for the time of a unit. */
  bundleFiles?: BundleFiles | undefined;
  /** Whether this worker serves an endpoint that a stage requires. */
  serves: (endpoint: string) => boolean;
  /** Most videos of bundles decoded at the same time. */
  children: number;
  /** Working memory that a preview process may take. */
  workingMemoryBytes?: number | undefined;
}

const withoutBooks: InferenceBackend['infer'] = async ({ endpoint }) => {
  throw new ServiceError('model_unavailable', `No price book is there for ${endpoint}.`);
};

export function createLiveRunner(options: LiveRunnerOptions): BundleInference {
  const { endpoints, endpointsDirectory, infer } = options;
  const contracts = new Map(endpoints.map((contract) => [contract.slug, contract]));
  const toolsFor = createBundleTools(options);

  return {
    plan: async (request) => planOf(contracts.get(request.endpoint), request),
    runUnits: async (request, range, context) => {
      const { live } = await requireBundle(endpointsDirectory, request.endpoint);
      if (!live) throw new ServiceError('model_unavailable', `No model is installed for ${request.endpoint}.`);
      const { requires } = range.stage;
      if (requires !== undefined && !options.serves(requires)) {
        throw new ServiceError('model_unavailable', `No inference worker that serves ${requires} took the job.`);
      }
      const { found } = context;
      const { parameters, inputs } = request;
      if (live.hasWork?.({ stage: range.stage.name, found, parameters, inputs }) === false) return { units: [] };
      const units: UnitOutcome[] = [];
      // One after another, so that a worker's memory does not grow with the bundle.
      for (let index = range.firstUnit; index < range.firstUnit + range.units; index += 1) {
        const tools = toolsFor(request, `${range.stage.name}-${index}`, {
          ...context,
          onProgress: (share) => context.onProgress(units.length + Math.floor(share * 100) / 100),
        });
        const outcome = await runUnit(live, { request, range, index, context, tools });
        if (outcome === null) return { units: [] };
        units.push(outcome);
        context.onProgress(units.length);
      }
      return { units };
    },
    compose: async (request, ended) =>
      composeOutcome(await requireBundle(endpointsDirectory, request.endpoint), { request, ...ended }, options),
  };

  async function runUnit(
    live: NonNullable<BundleDefinition<unknown>['live']>,
    {
      request,
      range,
      index,
      context,
      tools,
    }: { request: InferenceRequest; range: UnitRange; index: number; context: StageContext; tools: BundleTools },
  ): Promise<UnitOutcome | null> {
    const inferOne: InferOne = (endpoint, input, requested) => {
      const parameters = { ...defaultsOf(endpoint), ...requested };
      const answer = contracts.get(endpoint)?.usesPriceBooks ? (options.inferByBooks ?? withoutBooks) : infer;
      return answer({ ...request, endpoint, inputs: input ? [input] : [], parameters }, { signal: context.signal });
    };
    const { parameters, inputs } = request;
    const unit = { stage: range.stage.name, index, found: context.found, parameters, inputs };
    try {
      return await live.runUnit(unit, inferOne, tools);
    } catch (error) {
      if (context.signal.aborted || !(error instanceof ServiceError)) throw error;
      if (error.retryable && !context.isLastAttempt) throw error;
      // An internal failure, such as an unreachable file store, is reported in the terms of jobs.
      const isOfJobs = ERRORS[error.code].type === 'processing_error';
      return { status: 'failed', error: isOfJobs ? error.toJobError() : failureOfStage('model_inference_failed') };
    }
  }

  function defaultsOf(endpoint: string): Record<string, unknown> {
    const contract = contracts.get(endpoint);
    return contract ? (Value.Default(contract.parameters, {}) as Record<string, unknown>) : {};
  }
}
