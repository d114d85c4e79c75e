/**
 * Callbacks of a cluster about a dispatch: `started`, `progress`, `completed`, `failed`. Each may arrive twice, late or out
 * of order; repetitions change nothing and charge nothing.
 */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Artefact } from '../../artefacts/artefact-resource.ts';
import { ERRORS, type ErrorCode } from '../../contracts/error-codes.ts';
import type { InferenceOutcome } from '../../contracts/job.ts';
import { dispatchedActivity } from '../../jobs/dispatched-activity.ts';
import { type Dispatch, type DispatchEnd, endDispatch, readDispatch } from '../../jobs/dispatches-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { readJsonBody, readOptionalJsonBody } from '../requests/json-body.ts';
import { isStorable } from '../requests/validator.ts';
import { dispatchEnded, dispatchOf } from './authenticate-dispatch.ts';

export interface CallbackDependencies {
  temporal: Client;
  /** Inserts the uploaded artefacts and validates the result against the endpoint's schema. */
  readRemoteResult: (
    endpoint: string,
    result: unknown,
    artefacts: readonly Artefact[],
  ) => Promise<{ result: unknown; problem: string | null }>;
  logger: Logger;
}

/** Error codes that a cluster may report. */
const FAILURES = ['input_unreadable', 'model_inference_failed', 'model_unavailable'] as const;
const MESSAGE_CHARACTERS = 500;
/** Longer validation errors are cut. */
const PROBLEM_CHARACTERS = 1_000;
const INVALID_RESULT = 'The model returned an invalid result. Nothing was charged.';

export function createCallbackRoutes({ temporal, readRemoteResult, logger }: CallbackDependencies) {
  return {
    started: async (context: ApiContext): Promise<void> => {
      readFields(await readOptionalJsonBody(context), []);
      await beat(context, null);
    },

    progress: async (context: ApiContext): Promise<void> => {
      const { progress = null } = readFields(await readOptionalJsonBody(context), ['progress']);
      if (progress !== null && !isFraction(progress)) {
        throw new ServiceError('parameter_invalid', '"progress" must be a number from 0 to 1, or be omitted.', {
          param: 'progress',
        });
      }
      await beat(context, progress);
    },

    completed: async (context: ApiContext): Promise<void> => {
      const { result, credits = null } = readFields(await readJsonBody(context), ['result', 'credits']);
      if (result === undefined) {
        throw new ServiceError('parameter_missing', 'Send the "result" of the endpoint.', { param: 'result' });
      }
      const dispatch = await dispatchOf(context);
      const charged = readCredits(credits, dispatch);
      if (dispatch.endedAs !== 'completed') await complete(context, dispatch, result, charged);
      // Also for a repeated callback: its first sender may have crashed before this call.
      await notifyTemporal(() => dispatchedActivity(temporal, dispatch.taskToken).complete());
      respond(context, dispatch, 'completed');
    },

    failed: async (context: ApiContext): Promise<void> => {
      const failure = readFailure(await readJsonBody(context));
      const dispatch = await dispatchOf(context);
      const { code, message } = failure;
      const isRetryable = ERRORS[code].retryable;
      if (dispatch.endedAs !== 'failed') {
        assertRunning(dispatch);
        await end(context, dispatch, 'failed', isRetryable ? null : failedOutcome(code, message));
        logger.warn({ ...factsOf(dispatch), code, reason: message }, 'remote inference failed');
      }
      const activity = dispatchedActivity(temporal, dispatch.taskToken);
      await notifyTemporal(() => (isRetryable ? activity.fail(code) : activity.complete()));
      respond(context, dispatch, 'failed');
    },
  };

  async function beat(context: ApiContext, progress: number | null): Promise<void> {
    const dispatch = await dispatchOf(context);
    assertRunning(dispatch);
    const isAwaited = await notifyTemporal(() => dispatchedActivity(temporal, dispatch.taskToken).heartbeat(progress));
    if (!isAwaited) throw dispatchEnded();
    respond(context, dispatch, 'running');
  }

  async function complete(context: ApiContext, dispatch: Dispatch, value: unknown, charged: number): Promise<void> {
    assertRunning(dispatch);
    const { endpoint, artefacts, taskToken } = dispatch;
    const { result, problem } = await readRemoteResult(endpoint, value, artefacts);
    if (problem === null) {
      const outcome: InferenceOutcome = { status: 'succeeded', result, error: null, chargedCredits: charged };
      await end(context, dispatch, 'completed', outcome);
      return;
    }
    const problems = problem.slice(0, PROBLEM_CHARACTERS);
    // Deterministic: like a local model's invalid result, it would be the same on every attempt.
    logger.error({ ...factsOf(dispatch), problems }, 'remote inference returned an invalid result');
    await end(context, dispatch, 'failed', failedOutcome('model_inference_failed', INVALID_RESULT));
    await notifyTemporal(() => dispatchedActivity(temporal, taskToken).complete());
    throw new ServiceError('parameter_invalid', `The job failed because its result is invalid: ${problems}.`, {
      param: 'result',
    });
  }

  /** @throws ServiceError `dispatch_ended` when another callback, attempt or settlement ended the dispatch first */
  async function end({ state }: ApiContext, { id }: Dispatch, as: DispatchEnd, outcome: InferenceOutcome | null) {
    if (await endDispatch(state.em, { id, as, outcome })) return;
    // Two identical callbacks raced; both are acknowledged.
    if ((await readDispatch(state.em, id))?.endedAs !== as) throw dispatchEnded();
  }
}

function assertRunning({ endedAs, isOver }: Dispatch): void {
  if (endedAs !== null || isOver) throw dispatchEnded();
}

function failedOutcome(code: ErrorCode, message: string): InferenceOutcome {
  const error = new ServiceError(code, message).toJobError();
  return { status: 'failed', result: null, error, chargedCredits: 0 };
}

async function notifyTemporal<Result>(notify: () => Promise<Result>): Promise<Result> {
  try {
    return await notify();
  } catch (cause) {
    throw new ServiceError('service_unavailable', 'The callback could not be forwarded. Send it again in a moment.', {
      headers: { 'Retry-After': '2' },
      cause,
    });
  }
}

function respond(context: ApiContext, { id }: Dispatch, status: DispatchEnd | 'running'): void {
  context.body = { id, object: 'dispatch', status };
}

const factsOf = ({ id, jobId, endpoint }: Dispatch) => ({ dispatchId: id, jobId, endpoint });

function readFailure(body: Record<string, unknown>): { code: (typeof FAILURES)[number]; message: string } {
  const { code, message } = readFields(body, ['code', 'message']);
  const known = FAILURES.find((failure) => failure === code);
  if (!known) {
    throw new ServiceError('parameter_invalid', `"code" must be one of ${FAILURES.join(', ')}.`, { param: 'code' });
  }
  if (typeof message !== 'string' || message.length > MESSAGE_CHARACTERS || !/^\P{Cc}+$/u.test(message)) {
    throw new ServiceError('parameter_invalid', '"message" must be a single line of at most 500 characters.', {
      param: 'message',
    });
  }
  if (!isStorable(message)) {
    throw new ServiceError('parameter_invalid', '"message" contains an unpaired surrogate. Remove it.', {
      param: 'message',
    });
  }
  return { code: known, message };
}

/** Credits to charge: the full hold by default, or the smaller amount that the cluster reports. */
function readCredits(value: unknown, { reservedCredits }: Dispatch): number {
  if (value === null) return reservedCredits;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= reservedCredits) return value;
  const message = `"credits" must be an integer from 0 to ${reservedCredits}, the credits held, or be omitted.`;
  throw new ServiceError('parameter_invalid', message, { param: 'credits' });
}

function readFields(body: Record<string, unknown>, known: readonly string[]): Record<string, unknown> {
  const param = Object.keys(body).find((name) => !known.includes(name));
  if (param === undefined) return body;
  throw new ServiceError('parameter_unknown', `Unknown field "${param}". Remove it.`, { param });
}

function isFraction(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}
