/** What the `run-stages.ts` of a bundle's folder exports as `stages`: how its units are run and made into one result. */
import type { Found, InferenceOutcome, JobInput, UnitOutcome } from '../contracts/job.ts';

export interface BundleRequest {
  parameters: Readonly<Record<string, unknown>>;
  inputs: readonly JobInput[];
}

export interface StageUnit extends BundleRequest {
  stage: string;
  /** Of the stage's units, from 0. */
  index: number;
  /** What the stages before it found. */
  found: Found;
}

/** Runs an endpoint of one step on one file of the job, with that endpoint's defaults. */
export type InferOne = (endpoint: string, input: JobInput) => Promise<InferenceOutcome>;

export interface StagedEndpoint<Result> {
  /** In test mode: what the unit gives, taken from a fixture's result that follows the request already. */
  unitOfFixture(unit: StageUnit, fixture: Result): UnitOutcome;
  /** In live mode. Without it, live mode refuses the endpoint. */
  live?: {
    /** Endpoints of one step whose models must be installed for it to be available. */
    requires: readonly string[];
    runUnit(unit: StageUnit, infer: InferOne): Promise<UnitOutcome>;
  };
  /** What the stages found → the endpoint's result. Pure. */
  compose(found: Found, request: BundleRequest): ComposedResult<Result>;
}

export interface ComposedResult<Result> {
  result: Result;
  /** Whether something that was asked for is missing although no stage failed. */
  isPartial?: boolean;
}

/** Of a unit that must have succeeded for the caller to be asked: what it gave. */
export function foundValue<Value>(outcome: UnitOutcome | undefined): Value | null {
  return outcome?.status === 'succeeded' ? (outcome.value as Value) : null;
}
