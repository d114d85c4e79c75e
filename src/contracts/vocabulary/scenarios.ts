/** What the test scenarios do that mean the same on every endpoint. */
export const JOB_SCENARIOS = {
  model_error: 'The job settles `failed` and its hold is released.',
  slow: 'The job takes about 30 s, so that `wait=true` answers 202.',
  insufficient_credits: 'The request is refused with 402; no job is created.',
} as const;
