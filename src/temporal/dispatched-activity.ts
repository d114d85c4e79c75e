/** The activity that waits for another cluster, told what the cluster says. */
import { ActivityCancelledError, ActivityNotFoundError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ErrorCode } from '../contracts/error-codes.ts';

/** As in a request to Temporal of the API: it answers at once, or not. */
const CALL_TIMEOUT_MS = 5_000;

export interface DispatchedActivity {
  /** Answers false when nothing waits for the cluster any more. @throws Error when Temporal is away */
  heartbeat(progress: number | null): Promise<boolean>;
  /** The outcome is staged. Changes nothing where nothing waits any more: the next attempt finds the outcome. */
  complete(): Promise<void>;
  /** Lets Temporal make another attempt, where one is left. */
  fail(code: ErrorCode): Promise<void>;
}

export function dispatchedActivity(client: Client, taskToken: Uint8Array): DispatchedActivity {
  /** Answers whether something waited. */
  const tell = async (call: () => Promise<void>): Promise<boolean> => {
    try {
      await client.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
      return true;
    } catch (error) {
      if (error instanceof ActivityNotFoundError || error instanceof ActivityCancelledError) return false;
      throw error;
    }
  };
  return {
    heartbeat: (progress) => tell(() => client.activity.heartbeat(taskToken, progress)),
    complete: async () => {
      await tell(() => client.activity.complete(taskToken, 'staged'));
    },
    fail: async (code) => {
      const failure = ApplicationFailure.create({ message: `The cluster failed: ${code}.`, type: code });
      await tell(() => client.activity.fail(taskToken, failure));
    },
  };
}
