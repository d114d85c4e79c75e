/** Bounds of everything that waits for PostgreSQL. */

/**
 * Longest wait for a connection: for a free one of the pool, or for a new one. A local connection takes milliseconds, so by
 * then PostgreSQL is away or the process overloaded, and the caller had better repeat its request elsewhere or later.
 */
export const CONNECT_TIMEOUT_MS = 5_000;
/** After which PostgreSQL cancels a statement. Those of requests take milliseconds; one may wait for a row's lock. */
export const STATEMENT_TIMEOUT_MS = 10_000;
/** For statements that work on batches, such as those of retention. */
export const BATCH_STATEMENT_TIMEOUT_MS = 60_000;
/** How much longer this process waits for the reply: a server that responds has cancelled the statement by then. */
export const REPLY_GRACE_MS = 2_000;
