import { Context } from '@temporalio/activity';

const HEARTBEAT_INTERVAL_MS = 3_000;

/**
 * Heartbeats while work runs, so that Temporal notices a lost worker within its heartbeat timeout and can deliver a
 * cancellation.
 */
export async function heartbeating<Result>(work: () => Promise<Result>): Promise<Result> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
