/** Longest wait for Temporal to accept a start. The row is the outbox: the sweeper retries a start that failed. */
export const START_TIMEOUT_MS = 2_000;
