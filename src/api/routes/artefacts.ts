import { ARTEFACT_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { SignedUrls } from '../../platform/signed-urls.ts';
import { type ByteRange, ObjectNotFoundError, type ObjectStore } from '../../platform/storage/object-store.ts';
import type { ApiContext } from '../context.ts';
import { sendStream } from '../send-stream.ts';
import type { OpenToPages } from './any-origin.ts';
import { readByteRange } from './byte-range.ts';

interface ArtefactDependencies {
  store: ObjectStore;
  signedUrls: SignedUrls;
  clock: () => Date;
}

const NAME = /^art_[1-9A-HJ-NP-Za-km-z]{8,32}\.[a-z0-9]{2,5}$/;

export const ARTEFACT_PAGES: OpenToPages = {
  methods: 'GET, HEAD',
  exposedHeaders: 'Accept-Ranges, Content-Length, Content-Range, ETag, Request-Id',
};

/**
 * `GET /v1/artefacts/{name}`: a file that a job produced. The link's signature replaces an API key, so pages of any origin
 * may show it. Players request ranges.
 */
export function createArtefactRoute({ store, signedUrls, clock }: ArtefactDependencies) {
  return async (context: ApiContext): Promise<void> => {
    const name = String(context.params.name);
    const state = NAME.test(name) ? signedUrls.verify(context.path, context.query, clock()) : 'forged';
    if (state === 'forged') throw new ServiceError('resource_not_found', 'No such file. Use the link unchanged.');
    if (state === 'expired') throw new ServiceError('resource_not_found', 'This link and its file have expired.');
    try {
      await sendFile(context, store, name);
    } catch (error) {
      // Caches must not store the error in place of the file.
      context.remove('ETag');
      context.remove('Cache-Control');
      if (!(error instanceof ObjectNotFoundError)) throw error;
      throw new ServiceError('resource_not_found', 'This file is no longer stored.');
    }
  };
}

async function sendFile(context: ApiContext, store: ObjectStore, name: string): Promise<void> {
  const key = `artefacts/${name}`;
  const size = await store.size(key);
  // A file never changes under its name.
  const etag = `"${name}"`;
  context.status = 200;
  context.set('ETag', etag);
  context.set('Cache-Control', 'private, max-age=86400, immutable');
  if (context.fresh) {
    context.status = 304;
    return;
  }
  if (context.method === 'GET' && store.linkTo) {
    const contentType = ARTEFACT_MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    // Players repeat their range at the new address.
    context.set('Location', await store.linkTo(key, { contentType }));
    // Without a body there is no type: a null body sets its own status first.
    context.body = null;
    context.status = 307;
    context.remove('ETag');
    context.set('Cache-Control', 'private, no-store');
    return;
  }
  const range = requestedRange(context, etag, size);
  if (context.method !== 'HEAD') sendStream(context, await store.stream(key, range ?? undefined));
  if (range) {
    context.status = 206;
    context.set('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
  }
  context.type = name.slice(name.lastIndexOf('.'));
  context.length = range ? range.end - range.start + 1 : size;
  context.set('Accept-Ranges', 'bytes');
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Content-Security-Policy', name.endsWith('.html') ? PAGE_POLICY : FILE_POLICY);
}

const FILE_POLICY = "default-src 'none'; sandbox";
/** A page may style itself; it still runs and fetches nothing. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Null: the whole file. */
function requestedRange(context: ApiContext, etag: string, size: number): ByteRange | null {
  const ifRange = context.get('If-Range');
  // A mismatched If-Range asks for the whole file, and ranges apply to GET only.
  if ((ifRange !== '' && ifRange !== etag) || context.method !== 'GET') return null;
  const range = readByteRange(context.get('Range'), size);
  if (range !== 'not_satisfiable') return range;
  throw new ServiceError(
    'range_not_satisfiable',
    `The file has ${size} bytes. Request a range within it, or the whole file.`,
    {
      param: 'Range',
      headers: { 'Content-Range': `bytes */${size}` },
    },
  );
}
