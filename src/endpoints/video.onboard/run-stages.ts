import { foundValue, type StagedEndpoint } from '../../inference/staged-endpoint.ts';
import { outcomesOfPicture, unitOfTask } from '../task-units.ts';
import type { Result } from './result.ts';
import { KEY_FRAMES } from './stages.ts';
import { chargeOfVideo, summed } from './summed.ts';

/** What the first stage finds. */
type Watched = Omit<Result, 'key_frames' | 'summary' | 'charged_credits'> & {
  key_frames: Omit<Result['key_frames'][number], 'outcomes'>[];
};

export const stages: StagedEndpoint<Result> = {
  unitOfFixture: ({ stage, index }, fixture) => {
    const { summary: _, charged_credits: __, key_frames, ...watched } = fixture;
    if (stage !== KEY_FRAMES) return unitOfTask(key_frames[index]?.outcomes, stage);
    const value: Watched = { ...watched, key_frames: key_frames.map(({ outcomes: _outcomes, ...frame }) => frame) };
    return {
      status: 'succeeded',
      value,
      foundUnits: key_frames.length,
      chargedCredits: chargeOfVideo(fixture.coverage),
    };
  },
  compose: (found) => {
    const watched = foundValue<Watched>(found[KEY_FRAMES]?.[0]);
    if (!watched) throw new Error('a video that could not be watched has no result');
    const key_frames = watched.key_frames.map((frame, index) => ({
      ...frame,
      outcomes: outcomesOfPicture(found, index),
    }));
    return {
      result: { ...watched, ...summed(key_frames, watched.coverage), key_frames },
      // Without a vehicle there is nothing that a better walk would have shown.
      isPartial: key_frames.length > 0 && watched.coverage.fraction < 1,
    };
  },
};
