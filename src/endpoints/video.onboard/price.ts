import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { priceOfTasks } from '../shared/bundled-tasks.ts';
import { DEFAULT_FRAMES_PER_VIEW, type Parameters } from './request.ts';

/** Credits for finding the key frames of one video. */
export const VIDEO_CREDITS = 1_500;

/** The number of key frames if the video shows every requested view. */
export function mostKeyFrames({ views = [...COMPASS_VIEWS], frames_per_view }: Parameters): number {
  return views.length * (frames_per_view ?? DEFAULT_FRAMES_PER_VIEW);
}

/** The credits to hold, for the maximum number of key frames. */
export function priceOf(parameters: Parameters): number {
  return VIDEO_CREDITS + mostKeyFrames(parameters) * priceOfTasks(parameters.run ?? []);
}
