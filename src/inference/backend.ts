/** What runs a job's inference: ONNX Runtime, a fixture, or a remote server. The rest of the service is the same. */
import type { RemoteRun } from '../contracts/dispatch.ts';
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
  /** The build that the request asks for; null or left out for whichever answers by default. */
  pinnedModelVersion?: string | null;
  /** The build that must answer: what was recorded when the job was picked up. Left out: as `modelVersion` says. */
  modelVersion?: string;
}

export interface InferenceContext {
  /** Aborted when the job's attempt is cancelled or its worker shuts down; `infer` then rejects with its `reason`. */
  signal: AbortSignal;
  /** The result of another job of the same organization and mode; null where there is none, or it is no longer kept. */
  readResult?: (jobId: string) => Promise<unknown>;
  /** Longest that the job may wait for a process of its model before `infer` throws NotBegunError. Left out: any time. */
  waitMs?: number;
}

/** A run of units of one stage. */
export type UnitRange = Pick<StageRange, 'stage' | 'firstUnit' | 'units'>;

export interface StageContext extends InferenceContext {
  /** When the job was picked up. */
  startedAt?: Date | null;
  /** What the stages before this one found. */
  found: Found;
  /** Whether a unit whose failure may pass is to be given up: no attempt is left. */
  isLastAttempt: boolean;
  /** Told how many units are done; a unit that takes long counts in shares. */
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
   * The model build that will answer, `<model>@<release date>`: recorded when the job is picked up. The one that is pinned
   * where it is installed; else the one that answers by default.
   * @throws ServiceError `model_unavailable` when the endpoint has no installed model.
   */
  modelVersion(job: Pick<InferenceRequest, 'endpoint' | 'livemode' | 'pinnedModelVersion'>): string;
  /**
   * Runs the endpoint's pipeline. What another attempt cannot mend (a bad input, a result that breaks the endpoint's
   * schema) gives an outcome with status `failed`; what it can (a lost child process, a missing file store) is thrown
   * as a retryable ServiceError.
   */
  infer(request: InferenceRequest, context: InferenceContext): Promise<InferenceOutcome>;
  /** Without it, every endpoint runs in one step. */
  staged?: StagedInference;
  /** How another cluster runs the job; null where this worker does. Without it, this worker runs every job. */
  remoteRun?(job: Pick<InferenceRequest, 'endpoint' | 'livemode'>): RemoteRun | null;
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
  /** Other installed builds that a request may pin. */
  otherVersions?: readonly string[];
}
