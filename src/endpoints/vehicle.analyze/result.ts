import { Type } from 'typebox';
import { bundleSummary, chargedCredits } from '../../contracts/vocabulary/bundle-schemas.ts';
import { closed, imageIndex } from '../../contracts/vocabulary/schemas.ts';
import { taskOutcomes } from '../bundled-tasks.ts';

export const result = closed({
  images: Type.Array(closed({ image_index: imageIndex, outcomes: taskOutcomes }), {
    description: 'One entry a picture, in the order of the request.',
  }),
  summary: {
    ...bundleSummary,
    description: 'What the pictures say together; of each fact the reading that is surest.',
  },
  charged_credits: { ...chargedCredits, description: 'The charges of all outcomes: what the job is charged.' },
});

export type Result = Type.Static<typeof result>;
