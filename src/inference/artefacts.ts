/** Files that an inference makes for the customer: cut-outs, composites, films. */

import { type Artefact, artefactKey, renderArtefact } from '../domain/artefact-resource.ts';
import { newId } from '../domain/ids.ts';
import { examineMadeFile } from '../domain/made-files/examine-made-file.ts';
import type { SignedUrls } from '../domain/signed-urls.ts';
import type { ObjectStore } from '../storage/object-store.ts';

export type { Artefact } from '../domain/artefact-resource.ts';

export interface ArtefactFile {
  content: Uint8Array;
  mediaType: string;
  /** Of the file's name, without the dot. */
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
 * Stores a file and answers what a result says of it. A file whose job never comes to its end is removed by its age.
 * @throws FileFault when the file says more than what it shows: where a customer's picture was taken must not leave with one
 * that is made of it
 */
export function createArtefactWriter({ store, signedUrls, clock = () => new Date() }: Dependencies): WriteArtefact {
  return async ({ content, mediaType, extension, width, height }) => {
    const id = newId('artefact');
    const name = `${id}.${extension}`;
    examineMadeFile(content, mediaType);
    await store.put(artefactKey(name), content);
    return renderArtefact({ id, name, mediaType, bytes: content.byteLength, width, height }, signedUrls, clock());
  };
}
