import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { ERRORS, type ErrorCode } from '../contracts/error-codes.ts';

/** Whether the last attempt of an activity ended by a missed heartbeat. */
export function isOfLostWorker(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof TimeoutFailure && cause.timeoutType === 'HEARTBEAT';
}

/** The error code of a failed activity. */
export function failureOf(error: unknown): ErrorCode {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    if (cause.timeoutType === 'SCHEDULE_TO_START') return 'job_expired';
    if (cause.timeoutType === 'START_TO_CLOSE') return 'inference_timeout';
  }
  if (cause instanceof ApplicationFailure && typeof cause.type === 'string' && cause.type in ERRORS)
    return cause.type as ErrorCode;
  return 'model_inference_failed';
}
