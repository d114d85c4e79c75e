/** What runs a job's inference: ONNX Runtime, a fixture, or (later) a remote server. The rest of the service is the same. */
import type { InferenceOutcome, JobInput } from '../contracts/job.ts';

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
  /** Leaves no process behind. Calls that still run reject with a retryable ServiceError. */
  close(): Promise<void>;
}

/** An endpoint whose pipeline and models are present, valid and warm, with the build that answers it in live mode. */
export interface InstalledEndpoint {
  endpoint: string;
  /** `<model>@<release date>` */
  modelVersion: string;
}
