/** Reports a cluster's callbacks to the activity that waits for them. */
import { ActivityCancelledError, ActivityNotFoundError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ErrorCode } from '../contracts/error-codes.ts';

/** Bounds the callback request, which waits for the call. */
const CALL_TIMEOUT_MS = 5_000;

export interface DispatchedActivity {
  /** Returns false when no activity waits any more. @throws Error when Temporal is away */
  heartbeat(progress: number | null): Promise<boolean>;
  /** The outcome is pending. Changes nothing when no activity waits any more: the next attempt finds the outcome. */
  complete(): Promise<void>;
  /** Lets Temporal make another attempt, if one is left. */
  fail(code: ErrorCode): Promise<void>;
}

export function dispatchedActivity(client: Client, taskToken: Uint8Array): DispatchedActivity {
  /** Returns whether an activity waited. */
  const report = async (call: () => Promise<void>): Promise<boolean> => {
    try {
      await client.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
      return true;
    } catch (error) {
      if (error instanceof ActivityNotFoundError || error instanceof ActivityCancelledError) return false;
      throw error;
    }
  };
  return {
    heartbeat: (progress) => report(() => client.activity.heartbeat(taskToken, progress)),
    complete: async () => {
      await report(() => client.activity.complete(taskToken, 'staged'));
    },
    fail: async (code) => {
      const failure = ApplicationFailure.create({ message: `The cluster failed: ${code}.`, type: code });
      await report(() => client.activity.fail(taskToken, failure));
    },
  };
}
