import { COMPASS_VIEWS } from '../../contracts/vocabulary/views.ts';
import { summarize } from '../bundle-summary.ts';
import { chargeOfOutcomes } from '../bundled-tasks.ts';
import { chargeOfVideo } from '../key-frames.ts';
import type { Result } from './result.ts';

/** What the key frames say together, and what the job is charged. */
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
