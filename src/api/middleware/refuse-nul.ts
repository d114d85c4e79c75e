import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext, Next } from '../context.ts';

/** PostgreSQL text cannot hold NUL and the connection that sends one breaks, so it is refused here. */
export async function refuseNul(context: ApiContext, next: Next): Promise<void> {
  if (context.url.includes('%00')) throw new ServiceError('malformed_request', 'The URL must not contain %00.');
  await next();
}
