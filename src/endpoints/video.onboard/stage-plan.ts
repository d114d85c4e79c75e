import type { ValidRequest } from '../../contracts/endpoint-contract.ts';
import type { PlannedStage } from '../../contracts/run-bundle.ts';
import { TASK_QUEUES } from '../../contracts/task-queues.ts';
import { stagesOfTasks } from '../shared/bundled-tasks.ts';
import { mostKeyFrames, VIDEO_CREDITS } from './price.ts';
import type { Parameters } from './request.ts';

/** The stage that finds the key frames. The tasks run on its frames. */
export const KEY_FRAMES = 'key_frames';

export function stagePlan({ parameters }: ValidRequest): PlannedStage[] {
  const { run = [] } = parameters as Parameters;
  return [
    {
      name: KEY_FRAMES,
      after: [],
      isOptional: false,
      units: 1,
      unitName: 'videos',
      unitsPerActivity: 1,
      taskQueue: TASK_QUEUES.inferenceHeavy,
      requires: 'video.onboard',
      priceCredits: VIDEO_CREDITS,
    },
    ...stagesOfTasks(run, mostKeyFrames(parameters), {
      after: [KEY_FRAMES],
      units: { foundBy: KEY_FRAMES },
      unitName: 'key frames',
    }),
  ];
}
