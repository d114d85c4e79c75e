/** What the failure of an inference attempt means for its job. */
import type { InferenceOutcome } from '../contracts/job.ts';
import type { ServiceError } from '../platform/service-error.ts';

/** The outcome that ends the job with this failure; null when another attempt may succeed. */
export function outcomeOfFailure(error: ServiceError, isLastAttempt: boolean): InferenceOutcome | null {
  if (error.retryable && !isLastAttempt) return null;
  return { status: 'failed', result: null, error: error.toJobError(), chargedCredits: 0 };
}
