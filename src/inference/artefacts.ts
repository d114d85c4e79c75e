/** Files that an inference makes for the customer: cut-outs, composites, films. */

import { ARTEFACT_LIFETIME_MS } from '../contracts/media-limits.ts';
import { newId } from '../domain/ids.ts';
import { epochSeconds } from '../domain/job-resource.ts';
import type { SignedUrls } from '../domain/signed-urls.ts';
import type { ObjectStore } from '../storage/object-store.ts';

/** As it stands in a result. */
export interface Artefact {
  id: string;
  object: 'artefact';
  media_type: string;
  bytes: number;
  /** In pixels; null for what is not a picture or video. */
  width: number | null;
  height: number | null;
  url: string;
  expires_at: number;
}

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

/** Stores a file and answers what a result says of it. A file whose job never comes to its end is removed by its age. */
export function createArtefactWriter({ store, signedUrls, clock = () => new Date() }: Dependencies): WriteArtefact {
  return async ({ content, mediaType, extension, width, height }) => {
    const id = newId('artefact');
    const name = `${id}.${extension}`;
    await store.put(`artefacts/${name}`, content);
    const expiresAt = new Date(clock().getTime() + ARTEFACT_LIFETIME_MS);
    return {
      id,
      object: 'artefact',
      media_type: mediaType,
      bytes: content.byteLength,
      width,
      height,
      url: signedUrls.sign(`/v1/artefacts/${name}`, expiresAt),
      expires_at: epochSeconds(expiresAt),
    };
  };
}
