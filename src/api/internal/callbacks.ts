/**
 * What a cluster tells of a dispatch: `started`, `progress`, `completed`, `failed`. Each may come twice, late or after
 * another: nothing is charged or changed by it once more.
 */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { ERRORS, type ErrorCode } from '../../contracts/error-codes.ts';
import type { InferenceOutcome } from '../../contracts/job.ts';
import { type Dispatch, type DispatchEnd, endDispatch, readDispatch } from '../../db/jobs/dispatches.ts';
import type { Artefact } from '../../domain/artefact-resource.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { dispatchedActivity } from '../../temporal/dispatched-activity.ts';
import type { ApiContext } from '../context.ts';
import { readJsonBody, readOptionalJsonBody } from '../requests/json-body.ts';
import { dispatchEnded, dispatchOf } from './authenticate-dispatch.ts';

export interface CallbackDependencies {
  temporal: Client;
  /** Puts the uploaded files in place, and holds the result to its endpoint's schema. */
  readRemoteResult: (
    endpoint: string,
    result: unknown,
    artefacts: readonly Artefact[],
  ) => Promise<{ result: unknown; problem: string | null }>;
  logger: Logger;
}

/** The codes that a cluster may name. */
const FAILURES = ['input_unreadable', 'model_inference_failed', 'model_unavailable'] as const;
const MESSAGE_CHARACTERS = 500;
/** The first of what is wrong tells enough. */
const PROBLEM_CHARACTERS = 1_000;
const INVALID_RESULT = 'The model gave a result that is not valid. Nothing is charged.';

export function createCallbackRoutes({ temporal, readRemoteResult, logger }: CallbackDependencies) {
  return {
    started: async (context: ApiContext): Promise<void> => {
      readFields(await readOptionalJsonBody(context), []);
      await beat(context, null);
    },

    progress: async (context: ApiContext): Promise<void> => {
      const { progress = null } = readFields(await readOptionalJsonBody(context), ['progress']);
      if (progress !== null && !isShare(progress)) {
        throw new ServiceError('parameter_invalid', '"progress" must be a number from 0 to 1, or left out.', {
          param: 'progress',
        });
      }
      await beat(context, progress);
    },

    completed: async (context: ApiContext): Promise<void> => {
      const { result, credits = null } = readFields(await readJsonBody(context.req), ['result', 'credits']);
      if (result === undefined) {
        throw new ServiceError('parameter_missing', 'Send the "result" of the endpoint.', { param: 'result' });
      }
      const dispatch = await dispatchOf(context);
      const charged = readCredits(credits, dispatch);
      if (dispatch.endedAs !== 'completed') await complete(context, dispatch, result, charged);
      // Also of one that was told before: the one who told it may have been lost before this.
      await tellTemporal(() => dispatchedActivity(temporal, dispatch.taskToken).complete());
      answer(context, dispatch, 'completed');
    },

    failed: async (context: ApiContext): Promise<void> => {
      const failure = readFailure(await readJsonBody(context.req));
      const dispatch = await dispatchOf(context);
      const { code, message } = failure;
      const isRetried = ERRORS[code].retryable;
      if (dispatch.endedAs !== 'failed') {
        refuseWhenOver(dispatch);
        await end(context, dispatch, 'failed', isRetried ? null : failedOutcome(code, message));
        logger.warn({ ...factsOf(dispatch), code, reason: message }, 'a cluster failed');
      }
      const activity = dispatchedActivity(temporal, dispatch.taskToken);
      await tellTemporal(() => (isRetried ? activity.fail(code) : activity.complete()));
      answer(context, dispatch, 'failed');
    },
  };

  async function beat(context: ApiContext, progress: number | null): Promise<void> {
    const dispatch = await dispatchOf(context);
    refuseWhenOver(dispatch);
    const isAwaited = await tellTemporal(() => dispatchedActivity(temporal, dispatch.taskToken).heartbeat(progress));
    if (!isAwaited) throw dispatchEnded();
    answer(context, dispatch, 'running');
  }

  async function complete(context: ApiContext, dispatch: Dispatch, value: unknown, charged: number): Promise<void> {
    refuseWhenOver(dispatch);
    const { endpoint, artefacts, taskToken } = dispatch;
    const { result, problem } = await readRemoteResult(endpoint, value, artefacts);
    if (problem === null) {
      const outcome: InferenceOutcome = { status: 'succeeded', result, error: null, chargedCredits: charged };
      await end(context, dispatch, 'completed', outcome);
      return;
    }
    const problems = problem.slice(0, PROBLEM_CHARACTERS);
    // The same on every attempt, as of a model that runs here.
    logger.error({ ...factsOf(dispatch), problems }, 'a cluster gave an invalid result');
    await end(context, dispatch, 'failed', failedOutcome('model_inference_failed', INVALID_RESULT));
    await tellTemporal(() => dispatchedActivity(temporal, taskToken).complete());
    throw new ServiceError('parameter_invalid', `The job failed, because its result is not valid: ${problems}.`, {
      param: 'result',
    });
  }

  /** @throws ServiceError `dispatch_ended` when another callback, attempt or settlement came first */
  async function end({ state }: ApiContext, { id }: Dispatch, as: DispatchEnd, outcome: InferenceOutcome | null) {
    if (await endDispatch(state.em, { id, as, outcome })) return;
    // The same callback, sent twice at once.
    if ((await readDispatch(state.em, id))?.endedAs !== as) throw dispatchEnded();
  }
}

function refuseWhenOver({ endedAs, isOver }: Dispatch): void {
  if (endedAs !== null || isOver) throw dispatchEnded();
}

function failedOutcome(code: ErrorCode, message: string): InferenceOutcome {
  const error = new ServiceError(code, message).toJobError();
  return { status: 'failed', result: null, error, chargedCredits: 0 };
}

async function tellTemporal<Told>(tell: () => Promise<Told>): Promise<Told> {
  try {
    return await tell();
  } catch (cause) {
    throw new ServiceError('service_unavailable', 'This could not be passed on. Tell it again in a moment.', {
      headers: { 'Retry-After': '2' },
      cause,
    });
  }
}

function answer(context: ApiContext, { id }: Dispatch, status: DispatchEnd | 'running'): void {
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
    throw new ServiceError('parameter_invalid', '"message" must be a text of one line and at most 500 characters.', {
      param: 'message',
    });
  }
  return { code: known, message };
}

/** What the job costs: all that was held for it, or less where its endpoint says that such a result costs less. */
function readCredits(value: unknown, { reservedCredits }: Dispatch): number {
  if (value === null) return reservedCredits;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= reservedCredits) return value;
  const message = `"credits" must be a whole number from 0 to the ${reservedCredits} that are held, or left out.`;
  throw new ServiceError('parameter_invalid', message, { param: 'credits' });
}

function readFields(body: Record<string, unknown>, known: readonly string[]): Record<string, unknown> {
  const param = Object.keys(body).find((name) => !known.includes(name));
  if (param === undefined) return body;
  throw new ServiceError('parameter_unknown', `There is no "${param}" here.`, { param });
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}
