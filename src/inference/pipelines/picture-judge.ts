/** What results say of a picture as a whole, from files that a model may have: `view` and `quality`. */
import { IMAGE_QUALITY_REASONS, VIEWS } from '../../contracts/vocabulary/views.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import type { Model } from '../models/model.ts';
import { createOptionalClassifier } from './classifier.ts';

export interface PictureJudgement {
  /** Null where the model does not tell views, or not this one's. */
  view: { value: (typeof VIEWS)[number]; confidence: number } | null;
  /** Most confident first; empty where the model does not judge the quality. */
  quality_issues: { reason: (typeof IMAGE_QUALITY_REASONS)[number]; confidence: number }[];
}

/** @throws Error that names the field of `model.json` that is missing or wrong */
export function createPictureJudge(model: Model): (picture: RgbImage) => Promise<PictureJudgement> {
  const viewOf = createOptionalClassifier(model, 'view', VIEWS);
  const issuesOf = createOptionalClassifier(model, 'quality', IMAGE_QUALITY_REASONS);
  return async (picture) => {
    const [view] = await viewOf(picture);
    const issues = await issuesOf(picture);
    return {
      view: view ? { value: view.label, confidence: view.confidence } : null,
      quality_issues: issues.map(({ label, confidence }) => ({ reason: label, confidence })),
    };
  };
}
