/** How probable each view of a picture is, by a model's classifier `view`. */
import type { VIEWS } from '../../../contracts/vocabulary/pictures.ts';
import { fileEntry, type Model } from '../../models/model.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { createScores } from './classifier.ts';

const VIEW_FILE = 'view';

/**
 * @returns a function that returns a probability for each of `views`, together at most 1; null without such a file, or with one that
 *   does not choose between the views
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createViewShares(
  model: Model,
  views: readonly (typeof VIEWS)[number][],
): (picture: RgbImage) => Promise<number[] | null> {
  if (!model.manifest.files[VIEW_FILE]) return async () => null;
  const { decoder, labels } = fileEntry(model, VIEW_FILE);
  if (decoder?.name !== 'softmax-classification' || !Array.isArray(labels)) return async () => null;
  const scoresOf = createScores(model, VIEW_FILE, { classes: labels.length, decoder });
  return async (picture) => {
    const scores = await scoresOf(picture);
    return views.map((view) =>
      labels.reduce<number>((sum, label, index) => sum + (label === view ? (scores[index] ?? 0) : 0), 0),
    );
  };
}
