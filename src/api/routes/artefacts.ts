import { ServiceError } from '../../domain/service-error.ts';
import type { SignedUrls } from '../../domain/signed-urls.ts';
import { type ByteRange, ObjectNotFoundError, type ObjectStore } from '../../storage/object-store.ts';
import type { ApiContext } from '../context.ts';
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
  answerHeaders: 'Accept-Ranges, Content-Length, Content-Range, ETag, Request-Id',
};

/**
 * `GET /v1/artefacts/{name}`: a file that a job made. The link's signature stands in for an API key, so that pages of any
 * origin may show it; players ask for it in ranges.
 */
export function createArtefactRoute({ store, signedUrls, clock }: ArtefactDependencies) {
  return async (context: ApiContext): Promise<void> => {
    const name = String(context.params.name);
    const state = NAME.test(name) ? signedUrls.verify(context.path, context.query, clock()) : 'forged';
    if (state === 'forged')
      throw new ServiceError('resource_not_found', 'There is no such file. Use the link as given.');
    if (state === 'expired')
      throw new ServiceError('resource_not_found', 'This link has expired, and its file with it.');
    try {
      await answerFile(context, store, name);
    } catch (error) {
      // The refusal is not to be kept in the file's place.
      context.remove('ETag');
      context.remove('Cache-Control');
      if (!(error instanceof ObjectNotFoundError)) throw error;
      throw new ServiceError('resource_not_found', 'This file is no longer kept.');
    }
  };
}

async function answerFile(context: ApiContext, store: ObjectStore, name: string): Promise<void> {
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
  const range = askedRange(context, etag, size);
  if (context.method !== 'HEAD') context.body = await store.stream(key, range ?? undefined);
  if (range) {
    context.status = 206;
    context.set('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
  }
  context.type = name.slice(name.lastIndexOf('.'));
  context.length = range ? range.end - range.start + 1 : size;
  context.set('Accept-Ranges', 'bytes');
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Content-Security-Policy', "default-src 'none'; sandbox");
}

/** Null: the whole file. */
function askedRange(context: ApiContext, etag: string, size: number): ByteRange | null {
  const ifRange = context.get('If-Range');
  // Of another file than this one no part is wanted; and ranges are of GET alone.
  if ((ifRange !== '' && ifRange !== etag) || context.method !== 'GET') return null;
  const range = readByteRange(context.get('Range'), size);
  if (range !== 'not_satisfiable') return range;
  throw new ServiceError(
    'range_not_satisfiable',
    `The file has ${size} bytes. Ask for bytes before that, or for all.`,
    {
      param: 'Range',
      headers: { 'Content-Range': `bytes */${size}` },
    },
  );
}
