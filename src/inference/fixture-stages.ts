/** Test mode of bundles: each unit of each stage is taken from the scenario's fixture. */
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { UnitOutcome } from '../contracts/job.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { ArtefactFile, WriteArtefact } from './artefacts.ts';
import type { InferenceRequest, StageContext, StagedInference, UnitRange } from './backend.ts';
import type { FixtureEnd } from './fixture-end.ts';
import type { Log } from './log.ts';
import type { ResultCheck } from './result-check.ts';
import { composeOutcome, loadStagedEndpoint, planOf } from './stages.ts';

export interface FixtureStagesOptions {
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  writeArtefact: WriteArtefact;
  check: ResultCheck;
  logger: Log;
  /** The result of the request's scenario, made to follow the request; its files are handed to `writeArtefact`. */
  readResult: (request: InferenceRequest, writeArtefact: WriteArtefact) => Promise<unknown>;
  readEnd: (request: InferenceRequest) => Promise<FixtureEnd | null>;
  pauseIfSlow: PauseIfSlow;
}

/** Where the scenario is to be slow: waits until a share of its time is over, of all of it from now on by itself. */
export type PauseIfSlow = (
  request: InferenceRequest,
  signal: AbortSignal,
  until?: { since: Date; share: number },
) => Promise<void>;

export function createFixtureStages(options: FixtureStagesOptions): StagedInference {
  const { endpointsDirectory, pauseIfSlow } = options;
  const contracts = new Map(options.endpoints.map((contract) => [contract.slug, contract]));

  return {
    plan: async (request) => {
      const plan = planOf(contracts.get(request.endpoint), request);
      if (!plan) return null;
      return { ...plan, stages: plan.stages.map((stage) => ({ ...stage, taskQueue: TASK_QUEUES.inferenceTest })) };
    },
    runUnits: async (request, range, context) => {
      context.signal.throwIfAborted();
      if (request.testScenario === 'model_error') return failAll(range, modelError());
      const end = (await options.readEnd(request))?.stages?.find(({ name }) => name === range.stage.name);
      if (end?.status === 'skipped') return { units: [] };
      if (end?.error) return failAll(range, new ServiceError(end.error.code, end.error.message));
      return { units: await unitsOf(request, range, context) };
    },
    compose: async (request, ended) => {
      const endpoint = await staged(request);
      return composeOutcome(endpoint, { request, ...ended }, options);
    },
  };

  async function staged({ endpoint }: InferenceRequest) {
    const found = await loadStagedEndpoint(endpointsDirectory, endpoint);
    if (!found) throw new Error(`${endpoint} has a plan of stages and no run-stages.ts`);
    return found;
  }

  async function unitsOf(request: InferenceRequest, range: UnitRange, context: StageContext): Promise<UnitOutcome[]> {
    const endpoint = await staged(request);
    const artefacts = createArtefactStandIns(options.writeArtefact);
    const fixture = await options.readResult(request, artefacts.standIn);
    const { parameters, inputs } = request;
    const pace = paceOf(request, range, context);
    const units: UnitOutcome[] = [];
    for (let index = range.firstUnit; index < range.firstUnit + range.units; index += 1) {
      await pauseIfSlow(request, context.signal, pace(index));
      const unit = { stage: range.stage.name, index, found: context.found, parameters, inputs };
      units.push((await artefacts.store(endpoint.unitOfFixture(unit, fixture))) as UnitOutcome);
      context.onProgress(units.length);
    }
    return units;
  }

  /**
   * When a unit of a slow job may be done: the stages share its time evenly, in the order of the plan, and so do the units
   * of each, so that whoever watches sees them move. By the time of the pick-up, so that nothing is waited for twice.
   */
  function paceOf(request: InferenceRequest, { stage }: UnitRange, { startedAt, found }: StageContext) {
    const since = startedAt ?? new Date();
    const names = planOf(contracts.get(request.endpoint), request)?.stages.map(({ name }) => name) ?? [stage.name];
    const total = typeof stage.units === 'number' ? stage.units : countFound(found[stage.units.foundBy]);
    return (index: number) => ({
      since,
      share: (names.indexOf(stage.name) + (index + 1) / total) / names.length,
    });
  }
}

function countFound(units: readonly UnitOutcome[] = []): number {
  return units.reduce((sum, unit) => sum + (unit.status === 'succeeded' ? (unit.foundUnits ?? 0) : 0), 0);
}

/** Said of a job, and of each stage of a bundle, that the scenario `model_error` lets fail. */
export function modelError(): ServiceError {
  return new ServiceError('model_inference_failed', 'The test scenario model_error asked for this failure.');
}

function failAll({ units }: UnitRange, error: ServiceError): { units: UnitOutcome[] } {
  return { units: Array<UnitOutcome>(units).fill({ status: 'failed', error: error.toJobError() }) };
}

/** A fixture shows the files of all stages; only those that a unit takes from it are stored. */
function createArtefactStandIns(writeArtefact: WriteArtefact) {
  const files = new Map<string, ArtefactFile>();
  const stored = new Map<string, Promise<unknown>>();

  const store = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await store(item));
      return items;
    }
    if (typeof value !== 'object' || value === null) return value;
    const id = 'id' in value && typeof value.id === 'string' ? value.id : '';
    const file = files.get(id);
    if (file) {
      const artefact = stored.get(id) ?? writeArtefact(file);
      stored.set(id, artefact);
      return artefact;
    }
    const fields: [string, unknown][] = [];
    for (const [name, field] of Object.entries(value)) fields.push([name, await store(field)]);
    return Object.fromEntries(fields);
  };

  const standIn: WriteArtefact = async (file) => {
    const id = `stand-in ${files.size}`;
    files.set(id, file);
    const { mediaType, width, height } = file;
    return { id, object: 'artefact', media_type: mediaType, bytes: 0, width, height, url: '', expires_at: 0 };
  };
  return { standIn, store };
}
