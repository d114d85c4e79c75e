import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext, Next } from '../context.ts';

/** Nothing here unpacks bodies: a packed one would be read as broken, or stored as it came. */
export async function refuseEncodedBody(context: ApiContext, next: Next): Promise<void> {
  const encoding = context.get('Content-Encoding').trim().toLowerCase();
  const hasBody = context.method !== 'GET' && context.method !== 'HEAD';
  if (hasBody && encoding !== '' && encoding !== 'identity') {
    throw new ServiceError('unsupported_media_type', 'Send the body as it is, without Content-Encoding.', {
      param: 'Content-Encoding',
    });
  }
  await next();
}
