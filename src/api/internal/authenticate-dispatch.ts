import type { Next } from 'koa';
import type { DispatchTokens } from '../../jobs/dispatch-tokens.ts';
import { type Dispatch, readDispatch } from '../../jobs/dispatches-store.ts';
import { isId } from '../../platform/ids.ts';
import { addLogFields } from '../../platform/logging/log-context.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';

/** Requires the token of the dispatch named in the path. */
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
        'This token does not belong to this dispatch. Send the token that came with it.',
      );
    }
    if (state === 'expired')
      throw new ServiceError('token_expired', 'This dispatch token has expired; stop sending callbacks.');
    await next();
  };
}

/** The dispatch named in the path. @throws ServiceError `dispatch_ended` when it was deleted with its job */
export async function dispatchOf(context: ApiContext): Promise<Dispatch> {
  const dispatch = await readDispatch(context.state.em, String(context.params.id));
  if (!dispatch) throw dispatchEnded();
  addLogFields({ jobId: dispatch.jobId, dispatchId: dispatch.id });
  return dispatch;
}

export function dispatchEnded(): ServiceError {
  return new ServiceError('dispatch_ended', 'This dispatch has ended. Stop its work and send no more callbacks.');
}
