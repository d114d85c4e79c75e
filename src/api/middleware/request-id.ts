import { newId } from '../../platform/ids.ts';
import { redactSecrets } from '../../platform/logging/redact-secrets.ts';
import type { ApiContext, Next } from '../context.ts';

const USABLE = /^[A-Za-z0-9._-]{8,128}$/;

/** Assigns a request id, or adopts the caller's unless it looks like a secret, and returns it as `Request-Id`. */
export async function requestId(context: ApiContext, next: Next): Promise<void> {
  const given = context.get('Request-Id');
  context.state.requestId = USABLE.test(given) && redactSecrets(given) === given ? given : newId('request');
  context.set('Request-Id', context.state.requestId);
  await next();
}
