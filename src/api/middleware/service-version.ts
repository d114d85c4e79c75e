import { API_VERSION } from '../../contracts/api-version.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext, Next } from '../context.ts';

/** Echoes the version of the contract and refuses requests for any other. */
export async function serviceVersion(context: ApiContext, next: Next): Promise<void> {
  context.set('Service-Version', API_VERSION);
  const wanted = context.headers['service-version'];
  if (wanted !== undefined && wanted !== API_VERSION) {
    throw new ServiceError('unsupported_version', `Service-Version must be ${API_VERSION}, or be omitted.`, {
      param: 'Service-Version',
    });
  }
  await next();
}
