import { type CountedRate, countRequest, RATE_WINDOW_SECONDS } from '../../db/organizations/callers.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';

/** Counts the requests of one organisation to the management API, of which there is one mode. */
export function createManagementRateLimit(perMinute: number) {
  return async (context: ApiContext, organizationId: string): Promise<void> => {
    holdToRate(context, await countRequest(context.state.em, `${organizationId}:management`), perMinute);
  };
}

/** States the window in the answer, and refuses a request beyond it. @throws ServiceError `rate_limit_exceeded` */
export function holdToRate(context: ApiContext, { requests, resetSeconds }: CountedRate, perMinute: number): void {
  context.set('RateLimit-Limit', String(perMinute));
  context.set('RateLimit-Remaining', String(Math.max(perMinute - requests, 0)));
  context.set('RateLimit-Reset', String(resetSeconds));
  context.set('RateLimit-Policy', `${perMinute};w=${RATE_WINDOW_SECONDS}`);
  if (requests <= perMinute) return;
  throw new ServiceError(
    'rate_limit_exceeded',
    `${perMinute} requests a minute are allowed here. Wait ${resetSeconds} s, then go on.`,
    { headers: { 'Retry-After': String(resetSeconds) } },
  );
}
