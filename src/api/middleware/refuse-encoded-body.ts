import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext, Next } from '../context.ts';

/** No route decompresses bodies: a compressed one would fail to parse or be stored compressed. */
export async function refuseEncodedBody(context: ApiContext, next: Next): Promise<void> {
  const encoding = context.get('Content-Encoding').trim().toLowerCase();
  const hasBody = context.method !== 'GET' && context.method !== 'HEAD';
  if (hasBody && encoding !== '' && encoding !== 'identity') {
    throw new ServiceError(
      'unsupported_media_type',
      'Compressed bodies are not supported. Send the body without Content-Encoding.',
      {
        param: 'Content-Encoding',
      },
    );
  }
  // koa-body knows "identity" in lower case only.
  delete context.req.headers['content-encoding'];
  await next();
}
