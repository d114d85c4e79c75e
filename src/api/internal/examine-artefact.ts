/** Whether a file of a cluster goes to the customer, and what is said of its size. */
import { ARTEFACT_MEDIA_TYPES, MEGABYTE, uploadLimitBytes } from '../../contracts/media-limits.ts';
import { examineMadeFile } from '../../domain/made-files/examine-made-file.ts';
import { FileFault } from '../../domain/made-files/file-fault.ts';
import type { Size } from '../../domain/made-files/size.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { ApiContext } from '../context.ts';
import type { MeteredContent } from '../requests/content-meter.ts';
import { readFilmWithoutMedia } from './film-without-media.ts';

/** In pixels; null where it was left out, or where there is none. */
type Sides = { [Side in keyof Size]: number | null };

interface StoredArtefact {
  key: string;
  /** As the cluster says. */
  mediaType: string;
  stated: Sides;
  /** As it was received. */
  content: MeteredContent;
}

const JSON_MEDIA_TYPE = 'application/json';
/** It is read while other requests wait. */
const JSON_BYTES = MEGABYTE;
const MAXIMUM_PIXELS_A_SIDE = 100_000;
const WHOLE_AND_ALONE =
  'It goes to the customer as it is: send it whole, with colours in sRGB, and without EXIF, XMP, IPTC, positions, comments and colour profiles.';

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
    if (pixels >= 1 && pixels <= MAXIMUM_PIXELS_A_SIDE) return pixels;
    throw new ServiceError('parameter_invalid', `"${param}" must be a number of pixels, or left out.`, { param });
  }
}

/**
 * The size that a file has.
 * @throws ServiceError `unsupported_media_type` when the file is not what was said, or says more than what it shows;
 * `parameter_invalid` when it has another size than was said
 */
export async function examineArtefact(store: ObjectStore, artefact: StoredArtefact): Promise<Sides> {
  const { mediaType, stated, content } = artefact;
  // JSON has no signature to tell it by.
  const isAsStated = content.mediaType === (mediaType === JSON_MEDIA_TYPE ? null : mediaType);
  if (content.bytes === 0 || !isAsStated) throw wrongMediaType();
  const size = await examineContent(store, artefact);
  for (const side of ['width', 'height'] as const) refuseOtherSide(side, stated[side], size);
  return size ?? { width: null, height: null };
}

async function examineContent(store: ObjectStore, { key, mediaType, content }: StoredArtefact): Promise<Size | null> {
  try {
    const isFilm = mediaType === 'video/mp4';
    const bytes = isFilm ? await readFilmWithoutMedia(store, key, content.bytes) : await store.get(key);
    return examineMadeFile(bytes, mediaType);
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    throw new ServiceError('unsupported_media_type', `${error.message} ${WHOLE_AND_ALONE}`);
  }
}

function refuseOtherSide(param: keyof Size, stated: number | null, size: Size | null): void {
  if (stated === null || stated === size?.[param]) return;
  const message = size
    ? `"${param}" is ${stated}, but the file has ${size[param]} pixels. Leave it out: it is read from the file.`
    : `"${param}" is for pictures and films. Leave it out.`;
  throw new ServiceError('parameter_invalid', message, { param });
}

export function wrongMediaType(): ServiceError {
  const known = Object.values(ARTEFACT_MEDIA_TYPES).join(', ');
  return new ServiceError('unsupported_media_type', `Content-Type must be what the file is, one of ${known}.`, {
    param: 'Content-Type',
  });
}
