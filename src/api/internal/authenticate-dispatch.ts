import type { Next } from 'koa';
import { type Dispatch, readDispatch } from '../../db/jobs/dispatches.ts';
import type { DispatchTokens } from '../../domain/dispatch-tokens.ts';
import { isId } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { addLogFields } from '../../observability/log-context.ts';
import type { ApiContext } from '../context.ts';

/** Lets a request through that carries the token of the dispatch in its path. */
export function authenticateDispatch(tokens: DispatchTokens, clock: () => Date) {
  return async (context: ApiContext, next: Next): Promise<void> => {
    const token = /^Bearer +(\S+)$/i.exec(context.get('Authorization'))?.[1];
    if (!token) {
      throw new ServiceError('missing_token', 'Send the "token" of the dispatch as "Authorization: Bearer <token>".');
    }
    const id = String(context.params.id);
    const state = isId('dispatch', id) ? tokens.verify(token, id, clock()) : 'forged';
    if (state === 'forged') {
      throw new ServiceError(
        'invalid_token',
        'This is not the token of this dispatch. Send the one that came with it.',
      );
    }
    if (state === 'expired') throw new ServiceError('token_expired', 'This dispatch was over long ago. Forget it.');
    await next();
  };
}

/** The dispatch in the path. @throws ServiceError `dispatch_ended` when it is gone, with its job */
export async function dispatchOf(context: ApiContext): Promise<Dispatch> {
  const dispatch = await readDispatch(context.state.em, String(context.params.id));
  if (!dispatch) throw dispatchEnded();
  addLogFields({ jobId: dispatch.jobId, dispatchId: dispatch.id });
  return dispatch;
}

export function dispatchEnded(): ServiceError {
  return new ServiceError('dispatch_ended', 'Nobody waits for this dispatch any more. Stop its work and forget it.');
}
