/** Assesses a picture as a whole with a model's optional files `view` and `quality`. */
import { IMAGE_QUALITY_REASONS, VIEWS } from '../../../contracts/vocabulary/pictures.ts';
import type { Model } from '../../models/model.ts';
import { createOptionalClassifier } from '../detection/classifier.ts';
import type { RgbImage } from '../images/rgb-image.ts';

export interface PictureAssessment {
  /** Null when the model has no `view` file, or no view reaches its score. */
  view: { value: (typeof VIEWS)[number]; confidence: number } | null;
  /** Most confident first; empty when the model has no `quality` file. */
  quality_issues: { reason: (typeof IMAGE_QUALITY_REASONS)[number]; confidence: number }[];
}

/** @throws Error that names the field of `model.json` that is missing or wrong */
export function createPictureAssessor(model: Model): (picture: RgbImage) => Promise<PictureAssessment> {
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
