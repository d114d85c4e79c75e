import { newId } from '../../domain/ids.ts';
import { withoutSecrets } from '../../domain/without-secrets.ts';
import type { ApiContext, Next } from '../context.ts';

const USABLE = /^[A-Za-z0-9._-]{8,128}$/;

/** Gives every request an id, or takes the caller's, unless that is a secret, and answers it as `Request-Id`. */
export async function requestId(context: ApiContext, next: Next): Promise<void> {
  const given = context.get('Request-Id');
  context.state.requestId = USABLE.test(given) && withoutSecrets(given) === given ? given : newId('request');
  context.set('Request-Id', context.state.requestId);
  await next();
}
