/** The files that most endpoints take. */
import type { FileInput } from '../endpoint-contract.ts';
import { IMAGE_MEDIA_TYPES, MULTIPART_IMAGE_BYTES } from '../media-limits.ts';

const picture = {
  mediaTypes: IMAGE_MEDIA_TYPES,
  directMediaTypes: IMAGE_MEDIA_TYPES,
  maximumBytes: MULTIPART_IMAGE_BYTES,
};

export const onePicture = { ...picture, field: 'image', minimum: 1, maximum: 1 } as const satisfies FileInput;

export const pictures = (minimum: number, maximum: number) =>
  ({ ...picture, field: 'images', minimum, maximum }) as const satisfies FileInput;
