import { API_VERSION } from '../../domain/job-event.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext, Next } from '../context.ts';

/** Echoes the version of the contract, and refuses to answer in one that the caller does not mean. */
export async function serviceVersion(context: ApiContext, next: Next): Promise<void> {
  context.set('Service-Version', API_VERSION);
  const wanted = context.get('Service-Version');
  if (wanted !== '' && wanted !== API_VERSION) {
    throw new ServiceError('unsupported_version', `The Service-Version must be ${API_VERSION}, or left out.`, {
      param: 'Service-Version',
    });
  }
  await next();
}
