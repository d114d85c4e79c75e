/** The `bundle` that an endpoint's `bundle.ts` exports: how its units run and how its result is composed. */

import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import type { Found, InferenceOutcome, JobInput, UnitOutcome } from '../../contracts/job.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { WatchedVideo } from '../video/watch-video.ts';
import type { Preview, PreviewSize } from './previews/messages.ts';

export interface BundleRequest {
  parameters: Readonly<Record<string, unknown>>;
  inputs: readonly JobInput[];
}

export interface StageUnit extends BundleRequest {
  stage: string;
  /** Index of the unit within its stage, from 0. */
  index: number;
  /** Outcomes of the earlier stages. */
  found: Found;
}

/** Runs a one-step endpoint on one file or none. Omitted parameters have that endpoint's defaults. */
export type InferOne = (
  endpoint: string,
  input: JobInput | null,
  parameters?: Readonly<Record<string, unknown>>,
) => Promise<InferenceOutcome>;

/** What the units of bundles need in live mode besides models. */
export interface BundleTools {
  jobId: string;
  /**
   * Decodes a video of the job in its own process, which ends with `use`.
   * @throws ServiceError `input_unreadable` with advice for the caller
   */
  watchVideo<Result>(input: JobInput, use: (video: WatchedVideo) => Promise<Result>): Promise<Result>;
  /** Stores a JPEG for the time of `use`, so that endpoints can run on it. */
  withPicture<Result>(jpeg: Uint8Array, use: (input: JobInput) => Promise<Result>): Promise<Result>;
  /** Small JPEGs of pictures, decoded in their own process; null for a picture that cannot be read. */
  makePreviews(pictures: readonly JobInput[], size: PreviewSize): Promise<(Preview | null)[]>;
  writeArtefact: WriteArtefact;
  /** The result of an earlier job that the request names; null when it has been deleted. */
  resultOfJob(jobId: string): Promise<unknown>;
  /** Reports the unit's progress, 0 to 1. */
  onProgress(share: number): void;
}

export interface BundleDefinition<Result> {
  /** Test mode: the unit's outcome, taken from a fixture's result that is already adapted to the request. */
  unitOfFixture(unit: StageUnit, fixture: Result): UnitOutcome;
  /** Live mode. Without it, live mode refuses the endpoint. */
  live?: {
    /** One-step endpoints whose models must be installed for the bundle to be available. */
    requires: readonly string[];
    /** Whether a stage has work, given the earlier stages' outcomes. Without it, every stage has. */
    hasWork?(stage: Omit<StageUnit, 'index'>): boolean;
    /** Null, in a stage of one unit only: there was nothing to do, and the stage is skipped. */
    runUnit(unit: StageUnit, infer: InferOne, tools: BundleTools): Promise<UnitOutcome | null>;
  };
  /** Outcomes of the stages → the endpoint's result. Pure. */
  compose(found: Found, request: BundleRequest): ComposedResult<Result>;
}

export interface ComposedResult<Result> {
  result: Result;
  /** Whether something requested is missing although no stage failed. */
  isPartial?: boolean;
}

/** The value of a successful unit; null for any other. */
export function foundValue<Value>(outcome: UnitOutcome | undefined): Value | null {
  return outcome?.status === 'succeeded' ? (outcome.value as Value) : null;
}

/** The result of a one-step endpoint. @throws ServiceError with the error of its outcome */
export async function resultOf<Value>(infer: InferOne, ...call: Parameters<InferOne>): Promise<Value> {
  const { result, error } = await infer(...call);
  if (error) throw new ServiceError(error.code, error.message);
  return result as Value;
}
