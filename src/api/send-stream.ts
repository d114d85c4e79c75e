import type { Readable } from 'node:stream';
import type { ApiContext } from './context.ts';

/**
 * Responds with a stream. Koa listens for its errors only while it sends: not once the client has gone, when an error would end the
 * process. Open nothing for HEAD.
 */
export function sendStream(context: ApiContext, stream: Readable): void {
  stream.on('error', () => {});
  context.body = stream;
}
