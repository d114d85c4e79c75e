/** A file that an inference made for the customer, as results show it. */
import { ARTEFACT_LIFETIME_MS } from '../contracts/media-limits.ts';
import { epochSeconds } from '../platform/epoch-seconds.ts';
import type { SignedUrls } from '../platform/signed-urls.ts';

export interface Artefact {
  id: string;
  object: 'artefact';
  media_type: string;
  bytes: number;
  /** In pixels; null for files other than pictures and videos. */
  width: number | null;
  height: number | null;
  url: string;
  expires_at: number;
}

export interface StoredArtefact {
  id: string;
  /** Id and extension: the last segment of its path. */
  name: string;
  mediaType: string;
  bytes: number;
  width: number | null;
  height: number | null;
}

/** Its key in the object store. */
export const artefactKey = (name: string) => `artefacts/${name}`;

export function renderArtefact(
  { id, name, mediaType, bytes, width, height }: StoredArtefact,
  signedUrls: SignedUrls,
  now: Date,
): Artefact {
  const expiresAt = new Date(now.getTime() + ARTEFACT_LIFETIME_MS);
  return {
    id,
    object: 'artefact',
    media_type: mediaType,
    bytes,
    width,
    height,
    url: signedUrls.sign(`/v1/artefacts/${name}`, expiresAt),
    expires_at: epochSeconds(expiresAt),
  };
}
