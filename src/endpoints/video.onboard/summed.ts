import { COMPASS_VIEWS } from '../../contracts/vocabulary/views.ts';
import { summarize } from '../bundle-summary.ts';
import { chargeOfOutcomes } from '../bundled-tasks.ts';
import { VIDEO_CREDITS } from './price.ts';
import type { Result } from './result.ts';

/** Credits for the key frames: the price of the video by the share of the wanted views that it covers. */
export function chargeOfVideo({ fraction }: Pick<Result['coverage'], 'fraction'>): number {
  return Math.round(VIDEO_CREDITS * fraction);
}

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
