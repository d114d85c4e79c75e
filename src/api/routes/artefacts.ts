import { ServiceError } from '../../domain/service-error.ts';
import type { SignedUrls } from '../../domain/signed-urls.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../storage/object-store.ts';
import type { ApiContext } from '../context.ts';

interface ArtefactDependencies {
  store: ObjectStore;
  signedUrls: SignedUrls;
  clock: () => Date;
}

const NAME = /^art_[1-9A-HJ-NP-Za-km-z]{8,32}\.[a-z0-9]{2,5}$/;

/** `GET /v1/artefacts/{name}`: a file that a job made. The link's signature stands in for an API key. */
export function createArtefactRoute({ store, signedUrls, clock }: ArtefactDependencies) {
  return async (context: ApiContext): Promise<void> => {
    const name = String(context.params.name);
    const state = NAME.test(name) ? signedUrls.verify(context.path, context.query, clock()) : 'forged';
    if (state === 'forged')
      throw new ServiceError('resource_not_found', 'There is no such file. Use the link as given.');
    if (state === 'expired')
      throw new ServiceError('resource_not_found', 'This link has expired, and its file with it.');
    try {
      context.body = await store.stream(`artefacts/${name}`);
    } catch (error) {
      if (!(error instanceof ObjectNotFoundError)) throw error;
      throw new ServiceError('resource_not_found', 'This file is no longer kept.');
    }
    context.type = name.slice(name.lastIndexOf('.'));
    context.set('Cache-Control', 'private, max-age=86400, immutable');
    context.set('X-Content-Type-Options', 'nosniff');
    context.set('Content-Security-Policy', "default-src 'none'; sandbox");
  };
}
