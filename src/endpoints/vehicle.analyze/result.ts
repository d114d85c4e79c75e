import { Type } from 'typebox';
import { bundleSummary, chargedCredits } from '../../contracts/vocabulary/bundles.ts';
import { closed, imageIndex } from '../../contracts/vocabulary/schemas.ts';
import { taskOutcomes } from '../shared/bundled-tasks.ts';

export const result = closed({
  images: Type.Array(closed({ image_index: imageIndex, outcomes: taskOutcomes }), {
    description: 'One entry per picture, in the order of the request.',
  }),
  summary: {
    ...bundleSummary,
    description: 'The pictures combined: for each fact, the most confident reading.',
  },
  charged_credits: {
    ...chargedCredits,
    description: 'The sum of the charges of all outcomes, which the job is charged.',
  },
});

export type Result = Type.Static<typeof result>;
