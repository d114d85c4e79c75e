import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { summarize } from '../shared/bundle-summary.ts';
import { chargeOfOutcomes } from '../shared/bundled-tasks.ts';
import { chargeOfVideo } from '../shared/key-frames.ts';
import type { Result } from './result.ts';

/** The summary of the key frames, and the charge of the job. */
export function summed(
  keyFrames: Result['key_frames'],
  coverage: Pick<Result['coverage'], 'fraction'>,
): Pick<Result, 'summary' | 'charged_credits'> {
  const outcomes = keyFrames.map((frame) => frame.outcomes);
  return {
    summary: {
      ...summarize(outcomes),
      views: COMPASS_VIEWS.filter((view) => keyFrames.some((frame) => frame.view === view)),
    },
    charged_credits: outcomes.reduce((sum, item) => sum + chargeOfOutcomes(item), chargeOfVideo(coverage)),
  };
}
