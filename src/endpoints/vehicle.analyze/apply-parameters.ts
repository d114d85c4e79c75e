import type { JobInput } from '../../contracts/job.ts';
import { summarize } from '../bundle-summary.ts';
import { chargeOfOutcomes, chosenOutcomes } from '../bundled-tasks.ts';
import { DEFAULT_TASKS, type Parameters } from './request.ts';
import type { Result } from './result.ts';

/**
 * Makes the outcomes of a fixture answer the request: those of the chosen tasks, for as many pictures as were sent. Each
 * picture is taken for one of the fixture's, in turn.
 */
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
