import { Context } from '@temporalio/activity';
import type { InferenceRequest } from '../contracts/inference-backend.ts';
import type { Job } from '../jobs/entities.ts';

/** Share of an attempt's time that a job may wait for a process; the rest is for computing. */
const WAITING_SHARE = 1 / 4;

/** Longest wait of this attempt for a process. */
export const longestWaitMs = () => Context.current().info.startToCloseTimeoutMs * WAITING_SHARE;

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
