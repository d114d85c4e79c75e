/** The files of a dispatch: its inputs and its artefacts. */

import { artefactKey, renderArtefact } from '../../artefacts/artefact-resource.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import { ARTEFACTS_PER_DISPATCH, addArtefact } from '../../jobs/dispatches-store.ts';
import { newId } from '../../platform/ids.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { SignedUrls } from '../../platform/signed-urls.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import { meteredPut } from '../../uploads/content-meter.ts';
import type { ApiContext } from '../context.ts';
import { sendInput } from '../send-input.ts';
import { dispatchEnded, dispatchOf } from './authenticate-dispatch.ts';
import { artefactLimitBytes, examineArtefact, readStatedSize, wrongMediaType } from './examine-artefact.ts';

export interface FileDependencies {
  store: ObjectStore;
  signedUrls: SignedUrls;
  clock: () => Date;
}

/** `GET …/inputs/{index}`: an input file. The signed link grants access until the dispatch ends. */
export function createDispatchInputRoute({ store, signedUrls, clock }: FileDependencies) {
  return async (context: ApiContext): Promise<void> => {
    if (signedUrls.verify(context.path, context.query, clock()) !== 'valid') {
      throw new ServiceError('resource_not_found', 'No such file. Use the link unchanged, before it expires.');
    }
    const { endedAs, isOver, inputs } = await dispatchOf(context);
    if (endedAs !== null || isOver) throw dispatchEnded();
    await sendInput(context, store, inputs[Number(context.params.index)]);
  };
}

/** `POST …/artefacts`: stores a file for the result and returns the artefact; the result refers to it by `id`. */
export function createDispatchArtefactRoute({ store, signedUrls, clock }: FileDependencies) {
  return async (context: ApiContext): Promise<void> => {
    const mediaType = context.get('Content-Type');
    const [extension] = Object.entries(ARTEFACT_MEDIA_TYPES).find(([, known]) => known === mediaType) ?? [];
    if (extension === undefined) throw wrongMediaType();
    const stated = readStatedSize(context);
    const dispatch = await dispatchOf(context);
    if (dispatch.endedAs !== null || dispatch.isOver) throw dispatchEnded();

    const id = newId('artefact');
    const name = `${id}.${extension}`;
    const key = artefactKey(name);
    const limit = artefactLimitBytes(mediaType);
    const content = await meteredPut(store, key, context.req, {
      bytes: limit,
      error: new ServiceError('file_too_large', `A file of this type may have at most ${limit} bytes.`),
    }).catch((cause: unknown) => {
      throw context.req.readableAborted
        ? new ServiceError('malformed_request', 'The body ended too soon.', { cause })
        : cause;
    });
    const size = await examineArtefact(store, { key, mediaType, stated, content }).catch(async (refusal: unknown) => {
      await store.remove(key);
      throw refusal;
    });
    const artefact = renderArtefact({ id, name, mediaType, bytes: content.bytes, ...size }, signedUrls, clock());
    if (!(await addArtefact(context.state.em, dispatch.id, artefact))) {
      await store.remove(key);
      if (dispatch.artefacts.length >= ARTEFACTS_PER_DISPATCH) {
        throw new ServiceError('parameter_invalid', `A result may have at most ${ARTEFACTS_PER_DISPATCH} files.`);
      }
      throw dispatchEnded();
    }
    context.status = 201;
    context.body = artefact;
  };
}
