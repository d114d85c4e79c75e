/** The outcomes a backend answers with. */
import type { InferenceOutcome } from '../contracts/job.ts';
import { ServiceError } from '../domain/service-error.ts';

export function succeeded(result: unknown, chargedCredits: number): InferenceOutcome {
  return { status: 'succeeded', result, error: null, chargedCredits };
}

/** A failure that is settled as it is: nothing is charged and no other attempt is made. */
export function failed(error: ServiceError): InferenceOutcome {
  return { status: 'failed', result: null, error: error.toJobError(), chargedCredits: 0 };
}

/** A result that breaks its own schema: this service's fault, the same on every attempt, and never stored. */
export function invalidResult(): InferenceOutcome {
  return failed(
    new ServiceError('model_inference_failed', 'The model gave a result that is not valid. Nothing is charged.'),
  );
}
