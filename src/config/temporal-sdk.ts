/** What the SDK of Temporal takes from its environment alone. */

/**
 * How long a worker that is told to stop still listens for what its polls under way may bring. Without that, a task that
 * is on its way to it is lost until its heartbeat is missed. A server that ends the polls of a stopping worker itself has
 * the SDK do without.
 */
const LAST_POLL_MS = 1_000;

/** Call it before anything else of the SDK. */
export function setTemporalSdkEnvironment(): void {
  process.env.TEMPORAL_POLL_SHUTDOWN_INTERRUPT_WAIT_MS = String(LAST_POLL_MS);
}
