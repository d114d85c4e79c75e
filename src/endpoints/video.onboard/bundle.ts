import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { type BundleDefinition, foundValue } from '../../inference/bundles/bundle-definition.ts';
import { priceOfTask, type Task } from '../shared/bundled-tasks.ts';
import { chargeOfVideo, findKeyFrames, inputOfFrame, WATCHING, type Watched } from '../shared/key-frames.ts';
import { outcomesOfPicture, runTaskOn, unitOfTask } from '../shared/task-units.ts';
import { DEFAULT_FRAMES_PER_VIEW, type Parameters } from './request.ts';
import type { Result } from './result.ts';
import { KEY_FRAMES } from './stage-plan.ts';
import { summed } from './summed.ts';

export const bundle: BundleDefinition<Result> = {
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
        // The hold covers the requested number of key frames; the video may have fewer.
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
    if (!watched) throw new Error('the video has no key frames to compose a result from');
    const key_frames = watched.key_frames.map((frame, index) => ({
      ...frame,
      outcomes: outcomesOfPicture(found, index),
    }));
    return {
      result: { ...watched, ...summed(key_frames, watched.coverage), key_frames },
      // Without a vehicle the result is complete: a better walk would have shown nothing more.
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
