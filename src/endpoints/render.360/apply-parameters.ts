import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { degreesBetween } from '../shared/spin-set-frames.ts';
import { DEFAULT_START_VIEW, type Parameters } from './request.ts';
import type { Result } from './result.ts';

/**
 * Chooses the frame that a viewer opens with and states the scene, in live mode and test mode. No fixture has more frames than the
 * smallest `max_frames`.
 */
export function applyParameters<
  Spin extends Pick<Result, 'scene'> & {
    frames: readonly Pick<Result['frames'][number], 'index' | 'azimuth_degrees'>[];
  },
>(result: Spin, { start_view = DEFAULT_START_VIEW, scene }: Parameters): Spin {
  const azimuth = COMPASS_VIEWS.indexOf(start_view) * (360 / COMPASS_VIEWS.length);
  const [nearest] = result.frames.toSorted(
    (a, b) => degreesBetween(a.azimuth_degrees, azimuth) - degreesBetween(b.azimuth_degrees, azimuth),
  );
  return { ...result, start_frame_index: nearest?.index ?? 0, scene: scene ?? null };
}
