/** What runs a job's inference: ONNX Runtime, a fixture, or (later) a remote server. The rest of the service is the same. */
import type { Found, InferenceOutcome, JobInput, JobStage, StageOutcome } from '../contracts/job.ts';
import type { StagePlan, StageProgress, StageRange } from '../contracts/run-stages.ts';

export interface InferenceRequest {
  jobId: string;
  /** Slug of the endpoint. */
  endpoint: string;
  /** Live and staging jobs run on the installed models, test jobs on fixtures. */
  livemode: boolean;
  /** Validated parameters of the request, with defaults filled in. */
  parameters: Record<string, unknown>;
  /** Stored input files, in the order of the request. */
  inputs: readonly JobInput[];
  testScenario: string | null;
  /** Credits held for the job: the most that may be charged. */
  reservedCredits: number;
}

export interface InferenceContext {
  /** Aborted when the job's attempt is cancelled or its worker shuts down; `infer` then rejects with its `reason`. */
  signal: AbortSignal;
}

/** A run of units of one stage. */
export type UnitRange = Pick<StageRange, 'stage' | 'firstUnit' | 'units'>;

export interface StageContext extends InferenceContext {
  /** What the stages before this one found. */
  found: Found;
  /** Whether a unit whose failure may pass is to be given up: no attempt is left. */
  isLastAttempt: boolean;
  /** Told how many units are done. */
  onProgress: (doneUnits: number) => void;
}

/** Runs bundles, stage by stage. */
export interface StagedInference {
  /** The stages of a job that was just picked up; null of an endpoint that runs in one step. */
  plan(request: InferenceRequest, context: InferenceContext): Promise<StagePlan | null>;
  /**
   * Runs some units of a stage. A unit that fails for good is part of the outcome; what another attempt can mend is thrown
   * as a retryable ServiceError.
   */
  runUnits(request: InferenceRequest, range: UnitRange, context: StageContext): Promise<StageOutcome>;
  /** Makes one outcome of what all stages found. `shownStages` are those of the job; null where it shows none. */
  compose(
    request: InferenceRequest,
    ended: {
      plan: StagePlan;
      progress: readonly StageProgress[];
      found: Found;
      shownStages: readonly JobStage[] | null;
    },
  ): Promise<InferenceOutcome>;
}

export interface InferenceBackend {
  /**
   * The model build that will answer, `<model>@<release date>`: recorded when the job is picked up.
   * @throws ServiceError `model_unavailable` when the endpoint has no installed model.
   */
  modelVersion(job: Pick<InferenceRequest, 'endpoint' | 'livemode'>): string;
  /**
   * Runs the endpoint's pipeline. What another attempt cannot mend (a bad input, a result that breaks the endpoint's
   * schema) gives an outcome with status `failed`; what it can (a lost child process, a missing file store) is thrown
   * as a retryable ServiceError.
   */
  infer(request: InferenceRequest, context: InferenceContext): Promise<InferenceOutcome>;
  /** Without it, every endpoint runs in one step. */
  staged?: StagedInference;
  /** Leaves no process behind. Calls that still run reject with a retryable ServiceError. */
  close(): Promise<void>;
}

/** A backend that runs bundles too. */
export type StagedBackend = InferenceBackend & { staged: StagedInference };

/** An endpoint whose pipeline and models are present, valid and warm, with the build that answers it in live mode. */
export interface InstalledEndpoint {
  endpoint: string;
  /** `<model>@<release date>` */
  modelVersion: string;
}
