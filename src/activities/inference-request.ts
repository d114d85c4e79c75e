import type { Job } from '../db/entities.ts';
import type { InferenceRequest } from '../inference/backend.ts';

/** What a backend is told of a job, and no more. */
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
