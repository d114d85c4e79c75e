import type { BundleDefinition } from '../../inference/bundles/bundle-definition.ts';
import { summarize } from '../shared/bundle-summary.ts';
import { chargeOfOutcomes } from '../shared/bundled-tasks.ts';
import { outcomesOfPicture, runTask, unitOfTask } from '../shared/task-units.ts';
import { DEFAULT_TASKS } from './request.ts';
import type { Result } from './result.ts';

export const bundle: BundleDefinition<Result> = {
  unitOfFixture: ({ stage, index }, { images }) => unitOfTask(images[index]?.outcomes, stage),
  live: { requires: DEFAULT_TASKS, runUnit: runTask },
  compose: (found, { inputs }) => {
    const images = inputs.map((_, index) => ({ image_index: index, outcomes: outcomesOfPicture(found, index) }));
    const outcomes = images.map((image) => image.outcomes);
    return {
      result: {
        images,
        summary: summarize(outcomes),
        charged_credits: outcomes.reduce((sum, item) => sum + chargeOfOutcomes(item), 0),
      },
    };
  },
};
