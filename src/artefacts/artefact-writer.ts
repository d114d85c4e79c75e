/** Writes files that an inference makes for the customer: cut-outs, composites, films. */
import { newId } from '../platform/ids.ts';
import type { SignedUrls } from '../platform/signed-urls.ts';
import type { ObjectStore } from '../platform/storage/object-store.ts';
import { type Artefact, artefactKey, renderArtefact } from './artefact-resource.ts';
import { inspectArtefact } from './inspection/inspect-artefact.ts';

export type { Artefact } from './artefact-resource.ts';

export interface ArtefactFile {
  content: Uint8Array;
  mediaType: string;
  /** File extension, without the dot. */
  extension: string;
  width: number | null;
  height: number | null;
}

export type WriteArtefact = (file: ArtefactFile) => Promise<Artefact>;

interface Dependencies {
  store: Pick<ObjectStore, 'put'>;
  signedUrls: SignedUrls;
  clock?: () => Date;
}

/**
 * Stores a file and returns its resource. The file of a job that never ends is removed by age.
 * @throws FileFault when the file contains metadata, which could reveal where a customer's picture was taken
 */
export function createArtefactWriter({ store, signedUrls, clock = () => new Date() }: Dependencies): WriteArtefact {
  return async ({ content, mediaType, extension, width, height }) => {
    const id = newId('artefact');
    const name = `${id}.${extension}`;
    inspectArtefact(content, mediaType);
    await store.put(artefactKey(name), content);
    return renderArtefact({ id, name, mediaType, bytes: content.byteLength, width, height }, signedUrls, clock());
  };
}
