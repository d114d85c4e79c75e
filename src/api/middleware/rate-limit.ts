import { type CountedRate, countRequest, RATE_WINDOW_SECONDS } from '../../organizations/callers-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';

/** Counts an organisation's requests to the management API, which has no modes. */
export function createManagementRateLimit(perMinute: number) {
  return async (context: ApiContext, organizationId: string): Promise<void> => {
    enforceRate(context, await countRequest(context.state.em, `${organizationId}:management`), perMinute);
  };
}

/** Sets the `RateLimit-*` headers and refuses a request over the limit. @throws ServiceError `rate_limit_exceeded` */
export function enforceRate(context: ApiContext, { requests, resetSeconds }: CountedRate, perMinute: number): void {
  context.set('RateLimit-Limit', String(perMinute));
  context.set('RateLimit-Remaining', String(Math.max(perMinute - requests, 0)));
  context.set('RateLimit-Reset', String(resetSeconds));
  context.set('RateLimit-Policy', `${perMinute};w=${RATE_WINDOW_SECONDS}`);
  if (requests <= perMinute) return;
  throw new ServiceError(
    'rate_limit_exceeded',
    `The limit here is ${perMinute} requests per minute. Retry in ${resetSeconds} s.`,
    { headers: { 'Retry-After': String(resetSeconds) } },
  );
}
