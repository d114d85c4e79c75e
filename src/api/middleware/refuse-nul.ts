import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext, Next } from '../context.ts';

/** PostgreSQL holds no NUL in text and breaks the connection that sends one, so none gets that far. */
export async function refuseNul(context: ApiContext, next: Next): Promise<void> {
  if (context.url.includes('%00')) throw new ServiceError('malformed_request', 'The address must not contain %00.');
  await next();
}
