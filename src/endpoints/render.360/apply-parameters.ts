import { COMPASS_VIEWS } from '../../contracts/vocabulary/views.ts';
import { DEFAULT_START_VIEW, type Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Chooses the frame a viewer opens with. No fixture has more frames than the least `max_frames`. */
export function applyParameters(result: Result, { start_view = DEFAULT_START_VIEW }: Parameters): Result {
  const azimuth = COMPASS_VIEWS.indexOf(start_view) * (360 / COMPASS_VIEWS.length);
  const [nearest] = result.frames.toSorted(
    (a, b) => degreesBetween(a.azimuth_degrees, azimuth) - degreesBetween(b.azimuth_degrees, azimuth),
  );
  return { ...result, start_frame_index: nearest?.index ?? 0 };
}

function degreesBetween(a: number, b: number): number {
  const difference = Math.abs(a - b) % 360;
  return Math.min(difference, 360 - difference);
}
