/** How requests name an earlier job, and the test scenarios that mean the same on every endpoint. */
import { Type } from 'typebox';

export const jobId = (description: string) => Type.String({ pattern: '^job_[1-9A-HJ-NP-Za-km-z]{8,32}$', description });

export const JOB_SCENARIOS = {
  model_error: 'The job settles `failed` and its hold is released.',
  input_unreadable: 'The job settles `failed` with `input_unreadable`, as for a damaged file; its hold is released.',
  slow: 'The job takes 31 s, so `wait=true`, which waits for 30 s, returns 202.',
  insufficient_credits: 'The request is refused with 402; no job is created.',
} as const;
