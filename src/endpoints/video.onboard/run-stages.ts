import { COMPASS_VIEWS } from '../../contracts/vocabulary/views.ts';
import { foundValue, type StagedEndpoint } from '../../inference/staged-endpoint.ts';
import { priceOfTask, type Task } from '../bundled-tasks.ts';
import { chargeOfVideo, findKeyFrames, inputOfFrame, WATCHING, type Watched } from '../key-frames.ts';
import { outcomesOfPicture, runTaskOn, unitOfTask } from '../task-units.ts';
import { DEFAULT_FRAMES_PER_VIEW, type Parameters } from './request.ts';
import type { Result } from './result.ts';
import { KEY_FRAMES } from './stages.ts';
import { summed } from './summed.ts';

export const stages: StagedEndpoint<Result> = {
  unitOfFixture: ({ stage, index }, fixture) => {
    const { summary: _, charged_credits: __, key_frames, ...watched } = fixture;
    if (stage !== KEY_FRAMES) return unitOfTask(key_frames[index]?.outcomes, stage);
    return unitOfVideo({ ...watched, key_frames: key_frames.map(({ outcomes: _outcomes, ...frame }) => frame) });
  },
  live: {
    requires: WATCHING,
    runUnit: async ({ stage, index, found, parameters, inputs }, infer, tools) => {
      if (stage !== KEY_FRAMES) {
        const frame = foundValue<Watched>(found[KEY_FRAMES]?.[0])?.key_frames[index];
        if (!frame) throw new Error(`the video has no key frame ${index}`);
        const outcome = await runTaskOn(stage, inputOfFrame(frame.image), infer);
        // Held is the price on as many key frames as were asked for; there may be fewer.
        return outcome.status === 'failed' ? outcome : { ...outcome, chargedCredits: priceOfTask(stage as Task) };
      }
      const [video] = inputs;
      if (!video) throw new Error('the job has no video');
      const { views = [...COMPASS_VIEWS], frames_per_view = DEFAULT_FRAMES_PER_VIEW } = parameters as Parameters;
      return unitOfVideo(await findKeyFrames(video, { views, framesPerView: frames_per_view }, infer, tools));
    },
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

function unitOfVideo(watched: Watched) {
  return {
    status: 'succeeded',
    value: watched,
    foundUnits: watched.key_frames.length,
    chargedCredits: chargeOfVideo(watched.coverage),
  } as const;
}
