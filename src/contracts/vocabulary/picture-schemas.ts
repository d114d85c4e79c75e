/** What results say of a picture as a whole, and the request fields that go with it. */
import { Type } from 'typebox';
import { classified, closed, confidence, nullable } from './schemas.ts';
import { IMAGE_QUALITY_REASONS, VIEWS } from './views.ts';

export const view = nullable(classified([...VIEWS]));

export const qualityIssues = Type.Array(closed({ reason: Type.Enum(IMAGE_QUALITY_REASONS), confidence }), {
  description: 'What may have hidden something from the model. An empty list: nothing stood in the way.',
});

export const viewHint = Type.Enum(VIEWS, {
  description: 'Where the picture was taken from. Settles left and right where the picture leaves them open.',
});

export const minConfidence = Type.Number({
  minimum: 0,
  maximum: 1,
  default: 0,
  description: 'Leaves out what is detected with less confidence than this.',
});
