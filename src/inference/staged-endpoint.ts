/** What the `run-stages.ts` of a bundle's folder exports as `stages`: how its units are run and made into one result. */
import type { Found, InferenceOutcome, JobInput, UnitOutcome } from '../contracts/job.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { WriteArtefact } from './artefacts.ts';
import type { Preview, PreviewSize } from './previews/messages.ts';
import type { WatchedVideo } from './video/watch-video.ts';

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

/** Runs an endpoint of one step on one file, or on none, with that endpoint's defaults but for what is given. */
export type InferOne = (
  endpoint: string,
  input: JobInput | null,
  parameters?: Readonly<Record<string, unknown>>,
) => Promise<InferenceOutcome>;

/** What the units of bundles are run with in live mode. */
export interface LiveTools {
  /**
   * Decodes a video of the job in a process of its own, which is gone when `use` has ended.
   * @throws ServiceError `input_unreadable` that tells what to change
   */
  watchVideo<Result>(input: JobInput, use: (video: WatchedVideo) => Promise<Result>): Promise<Result>;
  /** Stores a JPEG while `use` runs, so that endpoints can be run on it. */
  withPicture<Result>(jpeg: Uint8Array, use: (input: JobInput) => Promise<Result>): Promise<Result>;
  /** Small JPEGs of pictures, decoded in a process of their own; null of one that cannot be read. */
  makePreviews(pictures: readonly JobInput[], size: PreviewSize): Promise<(Preview | null)[]>;
  writeArtefact: WriteArtefact;
  /** Of an earlier job that the request names; null where it is no longer kept. */
  resultOfJob(jobId: string): Promise<unknown>;
  /** Told which share of the unit is done, from 0 to 1. */
  onProgress(share: number): void;
}

export interface StagedEndpoint<Result> {
  /** In test mode: what the unit gives, taken from a fixture's result that follows the request already. */
  unitOfFixture(unit: StageUnit, fixture: Result): UnitOutcome;
  /** In live mode. Without it, live mode refuses the endpoint. */
  live?: {
    /** Endpoints of one step whose models must be installed for it to be available. */
    requires: readonly string[];
    /** Whether a stage has anything to do on what the stages before it found. Without it, every stage has. */
    hasWork?(stage: Omit<StageUnit, 'index'>): boolean;
    runUnit(unit: StageUnit, infer: InferOne, tools: LiveTools): Promise<UnitOutcome>;
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

/** What an endpoint of one step finds. @throws ServiceError with the error of its outcome */
export async function resultOf<Value>(infer: InferOne, ...asked: Parameters<InferOne>): Promise<Value> {
  const { result, error } = await infer(...asked);
  if (error) throw new ServiceError(error.code, error.message);
  return result as Value;
}
