/** Limits of pictures and videos, checked before anything is decoded in full. */
export const MEGABYTE = 1024 * 1024;
export const IMAGE_MEDIA_TYPES = ['image/jpeg', 'image/png', 'image/webp'] as const;
export const VIDEO_MEDIA_TYPES = ['video/mp4', 'video/quicktime', 'video/webm'] as const;
/** Largest picture sent directly as multipart. */
export const MULTIPART_IMAGE_BYTES = 10 * MEGABYTE;
/** Largest picture sent as an upload. */
export const UPLOAD_IMAGE_BYTES = 50 * MEGABYTE;
/** Largest video sent as an upload. */
export const UPLOAD_VIDEO_BYTES = 2 * 1024 * MEGABYTE;
/** Largest width × height that is decoded: about a 50-megapixel camera. */
export const IMAGE_PIXELS = 50_000_000;
/** Largest width and largest height that are decoded. Pictures of one row or column cost far more than their pixels. */
export const IMAGE_SIDE_PIXELS = 32_768;
/** Every media type that can be uploaded; each endpoint accepts some of them. */
export const UPLOAD_MEDIA_TYPES = [...IMAGE_MEDIA_TYPES, 'image/avif', ...VIDEO_MEDIA_TYPES] as const;

/** Largest upload of a media type. */
export function uploadLimitBytes(mediaType: string): number {
  return mediaType.startsWith('video/') ? UPLOAD_VIDEO_BYTES : UPLOAD_IMAGE_BYTES;
}

/** Lifetime of an artefact and its link. */
export const ARTEFACT_LIFETIME_MS = 30 * 24 * 60 * 60_000;

/** Media types of artefacts, by file extension. */
export const ARTEFACT_MEDIA_TYPES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  json: 'application/json',
  html: 'text/html; charset=utf-8',
};
