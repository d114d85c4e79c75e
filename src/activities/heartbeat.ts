import { Context } from '@temporalio/activity';

const HEARTBEAT_INTERVAL_MS = 3_000;

/**
 * Heartbeats while work runs, so that Temporal notices a lost worker within its heartbeat timeout and can deliver a
 * cancellation. Each heartbeat carries the last reported progress, for Temporal Web.
 */
export async function heartbeating<Result>(
  work: (report: (progress: string) => void) => Promise<Result>,
): Promise<Result> {
  const context = Context.current();
  let progress: string | undefined;
  const timer = setInterval(() => context.heartbeat(progress), HEARTBEAT_INTERVAL_MS);
  try {
    return await work((reported) => {
      progress = reported;
      context.heartbeat(progress);
    });
  } finally {
    clearInterval(timer);
  }
}
