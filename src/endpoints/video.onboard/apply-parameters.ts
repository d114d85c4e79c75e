import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { chosenOutcomes } from '../shared/bundled-tasks.ts';
import { DEFAULT_FRAMES_PER_VIEW, type Parameters } from './request.ts';
import type { Result } from './result.ts';
import { summed } from './summed.ts';

type KeyFrame = Result['key_frames'][number];
type Coverage = Result['coverage'];

/** Applies the request to a fixture: the requested views and endpoints. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { views: wanted = [...COMPASS_VIEWS], frames_per_view = DEFAULT_FRAMES_PER_VIEW, run = [] } = parameters;
  const keyFrames = chosenFrames(result.key_frames, wanted, frames_per_view).map((frame, index) => ({
    ...frame,
    index,
    outcomes: chosenOutcomes(frame.outcomes, run),
  }));
  const coverage = coverageOf(result.coverage, keyFrames, wanted);
  return { ...result, ...summed(keyFrames, coverage), key_frames: keyFrames, coverage };
}

function chosenFrames(frames: readonly KeyFrame[], wanted: readonly string[], perView: number): KeyFrame[] {
  return frames.filter((frame) => {
    const better = frames.filter(({ view, confidence }) => view === frame.view && confidence > frame.confidence);
    return wanted.includes(frame.view) && better.length < perView;
  });
}

function coverageOf({ views }: Coverage, frames: readonly KeyFrame[], wanted: readonly string[]): Coverage {
  const counted = Object.fromEntries(
    COMPASS_VIEWS.map((name) => [
      name,
      { ...views[name], key_frames: frames.filter(({ view }) => view === name).length },
    ]),
  ) as Coverage['views'];
  const missing = COMPASS_VIEWS.filter((view) => wanted.includes(view) && !views[view].is_covered);
  return { fraction: 1 - missing.length / wanted.length, missing_views: missing, views: counted };
}
