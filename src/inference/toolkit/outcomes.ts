/** The outcomes that a backend returns. */
import type { InferenceOutcome } from '../../contracts/job.ts';
import { ServiceError } from '../../platform/service-error.ts';

export function succeeded(result: unknown, chargedCredits: number): InferenceOutcome {
  return { status: 'succeeded', result, error: null, chargedCredits };
}

/** A final failure: nothing is charged and no other attempt is made. */
export function failed(error: ServiceError): InferenceOutcome {
  return { status: 'failed', result: null, error: error.toJobError(), chargedCredits: 0 };
}

/** The failure for a result that violates its schema: the service's fault, the same on every attempt, never stored. */
export function invalidResult(): InferenceOutcome {
  return failed(
    new ServiceError('model_inference_failed', 'The model returned an invalid result. Nothing was charged.'),
  );
}
