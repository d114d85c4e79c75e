/** The backend that runs a job's inference: ONNX Runtime, fixtures, or a remote server. */
import type { RemoteRun } from './dispatch.ts';
import type { Found, InferenceOutcome, JobInput, JobStage, StageOutcome } from './job.ts';
import type { Trial } from './release-choice.ts';
import type { StagePlan, StageProgress, StageRange } from './run-bundle.ts';

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
  /** The build that the request pins; null or absent for the default build. */
  pinnedModelVersion?: string | null;
  /** The build that must run it, as recorded at pick-up. Absent: the one that `modelVersion` returns. */
  modelVersion?: string;
}

export interface InferenceContext {
  /** Aborted when the attempt is cancelled or its worker shuts down; `infer` then rejects with its `reason`. */
  signal: AbortSignal;
  /** The result of another job of the same organisation and mode; null when there is none, or it is no longer kept. */
  readResult?: (jobId: string) => Promise<unknown>;
  /** Longest wait for a process of the job's model before `infer` throws NoCapacityError. Absent: unlimited. */
  waitMs?: number;
  /** Nobody sees the result: its files are not stored. */
  isUnseen?: boolean;
}

/** A run of units of one stage. */
export type UnitRange = Pick<StageRange, 'stage' | 'firstUnit' | 'units'>;

export interface StageContext extends InferenceContext {
  /** When the job was picked up. */
  startedAt?: Date | null;
  /** Outcomes of the earlier stages. */
  found: Found;
  /** Whether to give up units whose failure is transient: no attempt is left. */
  isLastAttempt: boolean;
  /** Called with the number of finished units; a long unit counts in fractions. */
  onProgress: (doneUnits: number) => void;
}

/** Runs the stages of bundles. */
export interface BundleInference {
  /** The stages of a job that was just picked up; null when its endpoint runs in one step. */
  plan(request: InferenceRequest, context: InferenceContext): Promise<StagePlan | null>;
  /**
   * Runs some units of a stage. A unit's permanent failure is part of the outcome; a failure that another attempt may mend
   * is thrown as a retryable ServiceError.
   */
  runUnits(request: InferenceRequest, range: UnitRange, context: StageContext): Promise<StageOutcome>;
  /** Composes one outcome of all stages. `shownStages` are those of the job; null when it shows none. */
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
   * The model build that will run, `<model>@<release date>`, recorded at pick-up: the pinned build when it is installed,
   * otherwise the default build.
   * @throws ServiceError `model_unavailable` when the endpoint has no installed model, or its inputs cannot be decoded here.
   */
  modelVersion(
    job: Pick<InferenceRequest, 'endpoint' | 'livemode' | 'pinnedModelVersion'> &
      Partial<Pick<InferenceRequest, 'inputs'>>,
  ): string;
  /**
   * Runs the endpoint's pipeline. A permanent failure (a bad input, a result that violates the endpoint's schema) returns an
   * outcome with status `failed`; a transient one (a lost child process, an unreachable file store) is thrown as a retryable
   * ServiceError.
   */
  infer(request: InferenceRequest, context: InferenceContext): Promise<InferenceOutcome>;
  /** Absent: every endpoint runs in one step. */
  bundles?: BundleInference;
  /** How another cluster runs the job; null when this worker runs it. Absent: this worker runs every job. */
  remoteRun?(job: Pick<InferenceRequest, 'endpoint' | 'livemode'>): RemoteRun | null;
  /** The release that gets a share of the endpoint's live jobs; of canaries only those that run here. Absent: none ever does. */
  trial?(endpoint: string): Trial | null;
  /** Ends every child process. Pending calls reject with a retryable ServiceError. */
  close(): Promise<void>;
}

/** A backend that also runs bundles. */
export type BundleBackend = InferenceBackend & { bundles: BundleInference };

/** An endpoint whose pipeline and models are present, valid and warm, with the build that serves live mode. */
export interface InstalledEndpoint {
  endpoint: string;
  /** `<model>@<release date>` */
  modelVersion: string;
  /** Other installed builds that a request may pin. */
  otherVersions?: readonly string[];
  /** By build, what it serves of the parameters that depend on the model. A build that is not listed serves every value. */
  servedValues?: Readonly<Record<string, ServedValues>>;
}

/** By parameter, the values that a model serves. */
export type ServedValues = Readonly<Record<string, readonly string[]>>;
