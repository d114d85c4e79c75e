/** What the service did to a picture that it hands out. */
import { ENHANCE_OPERATIONS } from './renders.ts';

export const PICTURE_EDITS = [
  'matte',
  'cut_out',
  'background_replacement',
  'spin_frame',
  'film_frame',
  'plate_blur',
  'plate_mask',
  'plate_replace',
  ...ENHANCE_OPERATIONS,
] as const;

export type PictureEdit = (typeof PICTURE_EDITS)[number];

/** Edits whose pixels a trained network made, or that replace what the camera saw: platforms call them edited by AI. */
export const AI_EDITS: ReadonlySet<PictureEdit> = new Set(['background_replacement', 'upscale', 'reflection_removal']);
