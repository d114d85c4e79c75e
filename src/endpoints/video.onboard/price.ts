import { COMPASS_VIEWS } from '../../contracts/vocabulary/views.ts';
import { priceOfTasks } from '../bundled-tasks.ts';
import { DEFAULT_FRAMES_PER_VIEW, type Parameters } from './request.ts';

/** Credits for finding the key frames of one video. */
export const VIDEO_CREDITS = 1_500;

/** What is held: the key frames may be as many as were asked for. */
export function priceOf({ views = [...COMPASS_VIEWS], frames_per_view, run = [] }: Parameters): number {
  return VIDEO_CREDITS + views.length * (frames_per_view ?? DEFAULT_FRAMES_PER_VIEW) * priceOfTasks(run);
}
