/** Backends that run bundles under a test's control. */

import type { BundleBackend, StageContext, UnitRange } from '../../src/contracts/inference-backend.ts';
import type { StageOutcome, UnitOutcome } from '../../src/contracts/job.ts';
import type { PlannedStage, StagePlan } from '../../src/contracts/run-bundle.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { composeOutcome } from '../../src/inference/bundles/composition.ts';
import type { ServiceError } from '../../src/platform/service-error.ts';
import { MODEL_VERSION } from './backends.ts';

export function plannedStage(changes: Partial<PlannedStage> & { name: string }): PlannedStage {
  return {
    after: [],
    isOptional: true,
    units: 1,
    unitName: 'views',
    unitsPerActivity: 10,
    taskQueue: TASK_QUEUES.inferenceGpu,
    priceCredits: 0,
    ...changes,
  };
}

export function stagePlan(stages: readonly PlannedStage[], changes: Partial<StagePlan> = {}): StagePlan {
  return { stages, isShown: true, activitiesAtATime: 4, eventsPerRun: 1_000, ...changes };
}

/** An outcome in which all units give the same. */
export const found = (units: number, value: unknown = null): StageOutcome => ({
  units: Array<UnitOutcome>(units).fill({ status: 'succeeded', value }),
});

export const failedUnits = (units: number, error: ServiceError): StageOutcome => ({
  units: Array<UnitOutcome>(units).fill({ status: 'failed', error: error.toJobError() }),
});

interface Options {
  plan: StagePlan;
  /** Runs the units of a stage; by default every unit succeeds. */
  runUnits?: (range: UnitRange, context: StageContext) => Promise<StageOutcome> | StageOutcome;
}

export interface RecordedBackend extends BundleBackend {
  /** Each run of units that began, as `stage first-last`. */
  readonly begun: string[];
}

/** Its result consists of the findings of the stages. */
export function createBundleBackend({ plan, runUnits = ({ units }) => found(units) }: Options): RecordedBackend {
  const begun: string[] = [];
  return {
    begun,
    modelVersion: () => MODEL_VERSION,
    infer: () => Promise.reject(new Error('a bundle runs in stages')),
    bundles: {
      plan: async () => plan,
      runUnits: async (_request, range, context) => {
        begun.push(`${range.stage.name} ${range.firstUnit}-${range.firstUnit + range.units - 1}`);
        return runUnits(range, context);
      },
      compose: async (request, ended) => {
        const endpoint = { unitOfFixture: () => notAsked(), compose: (result: unknown) => ({ result }) };
        return composeOutcome(endpoint, { request, ...ended }, { check: () => null, logger: QUIET });
      },
    },
    close: async () => {},
  };
}

const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

function notAsked(): never {
  throw new Error('no fixture is read');
}
