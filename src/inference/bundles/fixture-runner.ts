/** Runs the stages of bundles in test mode: each unit is taken from the scenario's fixture. */

import type { ArtefactFile, WriteArtefact } from '../../artefacts/artefact-writer.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { ErrorCode } from '../../contracts/error-codes.ts';
import type { BundleInference, InferenceRequest, StageContext, UnitRange } from '../../contracts/inference-backend.ts';
import type { UnitOutcome } from '../../contracts/job.ts';
import { TASK_QUEUES } from '../../contracts/task-queues.ts';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ResultCheck } from '../toolkit/result-check.ts';
import { composeOutcome } from './composition.ts';
import type { FixtureOutcome } from './fixture-outcome.ts';
import { planOf, requireBundle } from './plan.ts';

export interface FixtureRunnerOptions {
  endpoints: readonly EndpointContract[];
  endpointsDirectory: URL;
  writeArtefact: WriteArtefact;
  check: ResultCheck;
  logger: Log;
  /** The scenario's result, adapted to the request's parameters; its files are handed to `writeArtefact`. */
  readResult: (request: InferenceRequest, writeArtefact: WriteArtefact) => Promise<unknown>;
  readOutcome: (request: InferenceRequest) => Promise<FixtureOutcome | null>;
  /** Why a file of the request cannot be read; null when all can. */
  findUnreadable: (request: InferenceRequest) => Promise<ServiceError | null>;
  pauseIfSlow: PauseIfSlow;
}

/**
 * In the scenario `slow`, waits until `share` (0 to 1) of its time has passed since `since`; without `until`, its whole time
 * from now on. In any other scenario it returns at once.
 */
export type PauseIfSlow = (
  request: InferenceRequest,
  signal: AbortSignal,
  until?: { since: Date; share: number },
) => Promise<void>;

export function createFixtureRunner(options: FixtureRunnerOptions): BundleInference {
  const { endpointsDirectory, pauseIfSlow } = options;
  const contracts = new Map(options.endpoints.map((contract) => [contract.slug, contract]));

  return {
    plan: async (request) => {
      const plan = planOf(contracts.get(request.endpoint), request);
      if (!plan) return null;
      const unreadable = await options.findUnreadable(request);
      if (unreadable) throw unreadable;
      return { ...plan, stages: plan.stages.map((stage) => ({ ...stage, taskQueue: TASK_QUEUES.inferenceTest })) };
    },
    runUnits: async (request, range, context) => {
      context.signal.throwIfAborted();
      const failure = failureOf(request.testScenario);
      if (failure) return failAll(range, failure);
      const end = (await options.readOutcome(request))?.stages?.find(({ name }) => name === range.stage.name);
      if (end?.status === 'skipped') return { units: [] };
      if (end?.error) return failAll(range, new ServiceError(end.error.code, end.error.message));
      return { units: await unitsOf(request, range, context) };
    },
    compose: async (request, ended) => {
      const bundle = await requireBundle(endpointsDirectory, request.endpoint);
      return composeOutcome(bundle, { request, ...ended }, options);
    },
  };

  async function unitsOf(request: InferenceRequest, range: UnitRange, context: StageContext): Promise<UnitOutcome[]> {
    const bundle = await requireBundle(endpointsDirectory, request.endpoint);
    const artefacts = createArtefactStandIns(options.writeArtefact);
    const fixture = await options.readResult(request, artefacts.standIn);
    const { parameters, inputs } = request;
    const pace = paceOf(request, range, context);
    const units: UnitOutcome[] = [];
    for (let index = range.firstUnit; index < range.firstUnit + range.units; index += 1) {
      await pauseIfSlow(request, context.signal, pace(index));
      const unit = { stage: range.stage.name, index, found: context.found, parameters, inputs };
      units.push((await artefacts.store(bundle.unitOfFixture(unit, fixture))) as UnitOutcome);
      context.onProgress(units.length);
    }
    return units;
  }

  /**
   * When a unit of a slow job is due. The stages share its time evenly in the order of the plan, as do the units of each
   * stage, so that an observer sees progress. Counted from the pick-up, so that a retry waits for nothing twice.
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

/** The error of a job, and of each stage of a bundle, in the scenarios that fail; otherwise null. */
export function failureOf(testScenario: string | null): ServiceError | null {
  const code = testScenario === null ? undefined : FAILURES.get(testScenario);
  return code ? new ServiceError(code, `The test scenario ${testScenario} requested this failure.`) : null;
}

const FAILURES: ReadonlyMap<string, ErrorCode> = new Map([
  ['model_error', 'model_inference_failed'],
  ['input_unreadable', 'input_unreadable'],
]);

function failAll({ units }: UnitRange, error: ServiceError): { units: UnitOutcome[] } {
  return { units: Array<UnitOutcome>(units).fill({ status: 'failed', error: error.toJobError() }) };
}

/** A fixture holds the files of all stages; only those that a unit uses are stored. */
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
