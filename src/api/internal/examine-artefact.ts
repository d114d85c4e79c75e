/** Checks an artefact that a cluster uploads: media type, content and stated size. */

import { FileFault } from '../../artefacts/inspection/file-fault.ts';
import { inspectArtefact } from '../../artefacts/inspection/inspect-artefact.ts';
import type { Size } from '../../artefacts/inspection/size.ts';
import { ARTEFACT_MEDIA_TYPES, MEGABYTE, uploadLimitBytes } from '../../contracts/media-limits.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import type { MeteredContent } from '../../uploads/content-meter.ts';
import type { ApiContext } from '../context.ts';
import { readFilmWithoutMedia } from './film-without-media.ts';

/** In pixels; null when omitted or not applicable. */
type Sides = { [Side in keyof Size]: number | null };

interface StoredArtefact {
  key: string;
  /** As stated by the cluster. */
  mediaType: string;
  stated: Sides;
  /** As received. */
  content: MeteredContent;
}

const JSON_MEDIA_TYPE = 'application/json';
/** JSON is parsed on the event loop, so it is kept small. */
const JSON_BYTES = MEGABYTE;
const MAXIMUM_SIDE_PIXELS = 100_000;
const DELIVERY_RULES =
  'The customer receives it unchanged: send it complete, in sRGB, without EXIF, foreign XMP, IPTC, locations, comments or colour profiles.';

export function artefactLimitBytes(mediaType: string): number {
  return mediaType === JSON_MEDIA_TYPE ? JSON_BYTES : uploadLimitBytes(mediaType);
}

/** @throws ServiceError `parameter_invalid` */
export function readStatedSize({ query }: ApiContext): Sides {
  return { width: readSide('width'), height: readSide('height') };

  function readSide(param: keyof Size): number | null {
    const text = query[param];
    if (text === undefined) return null;
    const pixels = typeof text === 'string' && /^[1-9]\d*$/.test(text) ? Number(text) : 0;
    if (pixels >= 1 && pixels <= MAXIMUM_SIDE_PIXELS) return pixels;
    throw new ServiceError('parameter_invalid', `"${param}" must be a number of pixels, or be omitted.`, { param });
  }
}

/**
 * Returns the size of the file in pixels.
 * @throws ServiceError `unsupported_media_type` when the content is not of the stated type or carries more than its image
 * or video; `parameter_invalid` when its size differs from the stated one
 */
export async function examineArtefact(store: ObjectStore, artefact: StoredArtefact): Promise<Sides> {
  const { mediaType, stated, content } = artefact;
  // JSON has no magic number to sniff.
  const isAsStated = content.mediaType === (mediaType === JSON_MEDIA_TYPE ? null : mediaType);
  if (content.bytes === 0 || !isAsStated) throw wrongMediaType();
  const size = await examineContent(store, artefact);
  for (const side of ['width', 'height'] as const) assertStatedSide(side, stated[side], size);
  return size ?? { width: null, height: null };
}

async function examineContent(store: ObjectStore, { key, mediaType, content }: StoredArtefact): Promise<Size | null> {
  try {
    const isFilm = mediaType === 'video/mp4';
    const bytes = isFilm ? await readFilmWithoutMedia(store, key, content.bytes) : await store.get(key);
    return inspectArtefact(bytes, mediaType);
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    throw new ServiceError('unsupported_media_type', `${error.message} ${DELIVERY_RULES}`);
  }
}

function assertStatedSide(param: keyof Size, stated: number | null, size: Size | null): void {
  if (stated === null || stated === size?.[param]) return;
  const message = size
    ? `"${param}" is ${stated}, but the file has ${size[param]} pixels. Omit it: the size is read from the file.`
    : `"${param}" applies to images and videos only. Remove it.`;
  throw new ServiceError('parameter_invalid', message, { param });
}

export function wrongMediaType(): ServiceError {
  const known = Object.values(ARTEFACT_MEDIA_TYPES).join(', ');
  return new ServiceError('unsupported_media_type', `Content-Type must match the file and be one of ${known}.`, {
    param: 'Content-Type',
  });
}
