import type { JobInput } from '../../contracts/job.ts';
import { summarize } from '../shared/bundle-summary.ts';
import { chargeOfOutcomes, chosenOutcomes } from '../shared/bundled-tasks.ts';
import { DEFAULT_TASKS, type Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Applies the request to a fixture: the outcomes of the chosen tasks, with the fixture's pictures in rotation. */
export function applyParameters(
  { images }: Result,
  { tasks = [...DEFAULT_TASKS] }: Parameters,
  inputs: readonly JobInput[] = [],
): Result {
  const sent = inputs.length === 0 ? images : inputs.flatMap((_, index) => images[index % images.length] ?? []);
  const answered = sent.map(({ outcomes }, index) => ({
    image_index: index,
    outcomes: chosenOutcomes(outcomes, tasks),
  }));
  const outcomes = answered.map((image) => image.outcomes);
  return {
    images: answered,
    summary: summarize(outcomes),
    charged_credits: outcomes.reduce((sum, item) => sum + chargeOfOutcomes(item), 0),
  };
}
