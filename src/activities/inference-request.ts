import type { InferenceRequest } from '../contracts/inference-backend.ts';
import type { Job } from '../jobs/entities.ts';

/** The part of a job that a backend sees. */
export function requestOf(job: Job): InferenceRequest {
  return {
    jobId: job.id,
    endpoint: job.endpoint,
    livemode: job.livemode,
    parameters: job.parameters,
    inputs: job.inputs,
    testScenario: job.testScenario,
    reservedCredits: job.reservedCredits,
  };
}
