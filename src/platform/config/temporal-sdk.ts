/** Settings that Temporal's SDK reads from the environment only. */

/**
 * How long a stopping worker keeps listening on its open polls. Without it, a task on its way to the worker is lost until
 * its heartbeat is missed. The SDK ignores this for servers that end the polls of a stopping worker themselves.
 */
const LAST_POLL_MS = 1_000;

/** Call this before anything else of the SDK. */
export function setTemporalSdkEnvironment(): void {
  process.env.TEMPORAL_POLL_SHUTDOWN_INTERRUPT_WAIT_MS = String(LAST_POLL_MS);
}
