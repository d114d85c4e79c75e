/** Finds number plates by their corners. */
import { Type } from 'typebox';
import type { Model } from '../../models/model.ts';
import { readSettings } from '../../models/settings.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { createCornerFinder, type FoundCorners } from './corners.ts';

export interface PlateCandidate extends FoundCorners {
  /** Whether it is a plate without further evidence, such as a number on it. */
  isSure: boolean;
  /** Whether it is to be covered where no plate may stay legible, sure or not. */
  isToCover: boolean;
}

const settings = Type.Object({
  thresholds: Type.Optional(
    Type.Object({
      /** Confidence from which a result is a plate without further evidence; by default every result is one. */
      plate: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
      /** Confidence from which a result is covered; by default that of `plate`. */
      cover: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    }),
  ),
});

/**
 * @returns a function that returns the largest plate first
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createPlateFinder(model: Model): (picture: RgbImage) => Promise<FoundCorners[]> {
  const findCandidates = createPlateCandidateFinder(model);
  return async (picture) => (await findCandidates(picture)).filter(({ isSure }) => isSure);
}

/** As `createPlateFinder`, with what may be a plate. */
export function createPlateCandidateFinder(model: Model): (picture: RgbImage) => Promise<PlateCandidate[]> {
  const { plate: leastSure = 0, cover = leastSure } = readSettings(model, settings).thresholds ?? {};
  const findCorners = createCornerFinder(model, 'plate');
  return async (picture) =>
    (await findCorners(picture)).map((found) => ({
      ...found,
      isSure: found.confidence >= leastSure,
      isToCover: found.confidence >= cover,
    }));
}
