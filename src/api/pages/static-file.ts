/** A response that stays the same until the process ends: compressed once, and sent again only when it has changed. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ApiContext } from '../context.ts';

export interface StaticFile {
  type: string;
  content: Buffer;
  gzipped: Buffer;
  etag: string;
}

export function createStaticFile(type: string, text: string): StaticFile {
  const content = Buffer.from(text);
  const digest = createHash('sha256').update(type).update(content).digest('base64url').slice(0, 22);
  // Weak: the compressed and the plain form share it.
  return { type, content, gzipped: gzipSync(content), etag: `W/"${digest}"` };
}

export function sendStaticFile(context: ApiContext, { type, content, gzipped, etag }: StaticFile): void {
  context.status = 200;
  context.type = type;
  context.vary('Accept-Encoding');
  // Kept by browsers, and asked for again each time: a release shows at once.
  context.set('Cache-Control', 'no-cache');
  context.set('ETag', etag);
  context.set('X-Content-Type-Options', 'nosniff');
  if (context.fresh) {
    context.status = 304;
    return;
  }
  const isGzipped = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isGzipped) context.set('Content-Encoding', 'gzip');
  context.body = isGzipped ? gzipped : content;
}
