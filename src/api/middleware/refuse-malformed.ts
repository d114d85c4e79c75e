import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext, Next } from '../context.ts';
import { pathOf } from '../request-path.ts';

/** Refuses URLs that no route can read. */
export async function refuseMalformed(context: ApiContext, next: Next): Promise<void> {
  if (pathOf(context) === null) throw new ServiceError('malformed_request', 'The URL is malformed or has no path.');
  // PostgreSQL text cannot hold NUL and the connection that sends one breaks.
  if (context.url.includes('%00')) throw new ServiceError('malformed_request', 'The URL must not contain %00.');
  await next();
}
