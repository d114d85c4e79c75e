import { COMPASS_VIEWS } from '../../contracts/vocabulary/views.ts';
import { priceOfTasks } from '../bundled-tasks.ts';
import { DEFAULT_FRAMES_PER_VIEW, type Parameters } from './request.ts';

/** Credits for finding the key frames of one video. */
export const VIDEO_CREDITS = 1_500;

/** As many as were asked for, if the video shows them all. */
export function mostKeyFrames({ views = [...COMPASS_VIEWS], frames_per_view }: Parameters): number {
  return views.length * (frames_per_view ?? DEFAULT_FRAMES_PER_VIEW);
}

/** What is held: the key frames may be as many as were asked for. */
export function priceOf(parameters: Parameters): number {
  return VIDEO_CREDITS + mostKeyFrames(parameters) * priceOfTasks(parameters.run ?? []);
}
