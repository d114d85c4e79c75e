/** What is said of videos of a walk around a vehicle. */
import { Type } from 'typebox';
import { IMAGE_QUALITY_REASONS } from './views.ts';

/** Why a video may be of little use. */
export const VIDEO_QUALITY_REASONS = [...IMAGE_QUALITY_REASONS, 'shaky', 'too_fast', 'interrupted'] as const;

/** Seen from above. */
export const WALK_DIRECTIONS = ['clockwise', 'counterclockwise'] as const;

export const timeOffsetMs = Type.Integer({ minimum: 0, description: 'Milliseconds from the start of the video.' });
