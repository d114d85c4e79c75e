/** The pictures that requests carry, and what results say of a picture as a whole. */
import { Type } from 'typebox';
import type { FileInput } from '../endpoint-contract.ts';
import { IMAGE_MEDIA_TYPES, MULTIPART_IMAGE_BYTES } from '../media-limits.ts';
import { classified, closed, confidence, nullable } from './schemas.ts';

const picture = {
  mediaTypes: IMAGE_MEDIA_TYPES,
  directMediaTypes: IMAGE_MEDIA_TYPES,
  maximumBytes: MULTIPART_IMAGE_BYTES,
};

export const onePicture = { ...picture, field: 'image', minimum: 1, maximum: 1 } as const satisfies FileInput;

export const pictures = (minimum: number, maximum: number) =>
  ({ ...picture, field: 'images', minimum, maximum }) as const satisfies FileInput;

/** Left and right are the driver's. The compass views run clockwise from the front, seen from above. */
export const COMPASS_VIEWS = [
  'front',
  'front_right',
  'right',
  'rear_right',
  'rear',
  'rear_left',
  'left',
  'front_left',
] as const;

export const DETAIL_VIEWS = [
  'interior_front',
  'interior_rear',
  'dashboard',
  'trunk',
  'engine_bay',
  'wheel',
  'underbody',
  'roof',
  'document',
  'vin_plate',
  'close_up',
] as const;

export const VIEWS = [...COMPASS_VIEWS, ...DETAIL_VIEWS] as const;

/** Why a picture may be unsuitable for inspection. */
export const IMAGE_QUALITY_REASONS = [
  'blurred',
  'too_dark',
  'overexposed',
  'reflections',
  'low_resolution',
  'too_far',
  'too_close',
  'cropped',
  'occluded',
  'dirty_vehicle',
  'wet_vehicle',
  'no_vehicle',
  'several_vehicles',
] as const;

/** Defects of a picture that hide print from a reader. Every reading endpoint measures these and no others. */
export const READING_DEFECTS = [
  'blurred',
  'too_dark',
  'overexposed',
  'reflections',
  'low_resolution',
  'too_far',
  'cropped',
] as const satisfies readonly (typeof IMAGE_QUALITY_REASONS)[number][];

export const FRAMINGS = ['well_framed', 'cropped', 'too_far', 'too_close', 'off_center'] as const;

export const PICTURE_EDGES = ['left', 'top', 'right', 'bottom'] as const;

/** What a picture mainly shows. */
export const SUBJECTS = [
  'whole_vehicle',
  'vehicle_section',
  'single_part',
  /** A part that is not mounted on a vehicle. */
  'loose_part',
  'interior',
  'other',
] as const;

export const view = nullable(classified(VIEWS));

export const qualityIssues = Type.Array(closed({ reason: Type.Enum(IMAGE_QUALITY_REASONS), confidence }), {
  description: 'Picture defects that may have hidden something from the model. Empty if there are none.',
});

/** What stands in the way of a reading: picture defects, and what is missing from the picture. */
export const readingIssues = <Reasons extends string[]>(...reasons: Reasons) =>
  Type.Array(closed({ reason: Type.Enum(reasons), confidence }), {
    description:
      'Picture defects that may have hidden something from the model, and what is missing from the picture; most ' +
      'confident first. Empty if there are none. A reading without any value has at least one.',
  });

export const viewHint = Type.Enum(VIEWS, {
  description: 'The viewpoint of the picture. Resolves left and right where the picture alone is ambiguous.',
});

export const minConfidence = Type.Number({
  minimum: 0,
  maximum: 1,
  default: 0,
  description: 'Omits detections with a lower confidence.',
});
