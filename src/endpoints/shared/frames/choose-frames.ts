/** Which pictures become frames, and how much of the circle they show. Pure. */
import { COMPASS_VIEWS } from '../../../contracts/vocabulary/pictures.ts';
import type { Result } from '../../render.360/result.ts';

const VIEW_STEP = 360 / COMPASS_VIEWS.length;

/** A picture that can become a frame. */
export interface Candidate {
  azimuthDegrees: number;
  /** Higher is better. */
  score: number;
}

/**
 * The best and most evenly spread, at most `most`: until so many are left, the candidate goes that is missed least, by the gap that it
 * would leave and by its score.
 * @returns by ascending azimuth
 */
export function chooseFrames<Item extends Candidate>(candidates: readonly Item[], most: number): Item[] {
  const chosen = candidates.toSorted((a, b) => a.azimuthDegrees - b.azimuthDegrees);
  while (chosen.length > most) {
    const gaps = gapsOf(chosen);
    const missed = chosen.map(({ score }, index) => score * ((gaps.at(index - 1) ?? 0) + (gaps[index] ?? 0)));
    chosen.splice(missed.indexOf(Math.min(...missed)), 1);
  }
  return chosen;
}

/** From each frame to the next one round the circle, in degrees: 360 in all. @param frames by ascending azimuth */
export function gapsOf(frames: readonly Pick<Candidate, 'azimuthDegrees'>[]): number[] {
  const first = frames[0]?.azimuthDegrees ?? 0;
  return frames.map(({ azimuthDegrees }, index) => (frames[index + 1]?.azimuthDegrees ?? first + 360) - azimuthDegrees);
}

export function viewAt(azimuthDegrees: number): (typeof COMPASS_VIEWS)[number] {
  const index = Math.round(azimuthDegrees / VIEW_STEP) % COMPASS_VIEWS.length;
  return COMPASS_VIEWS[index] ?? 'front';
}

/** Every view that a frame shows counts for an eighth of the circle. @param frames by ascending azimuth */
export function coverageOf(frames: readonly Pick<Candidate, 'azimuthDegrees'>[]): Result['coverage'] {
  const shown = new Set(frames.map(({ azimuthDegrees }) => viewAt(azimuthDegrees)));
  const missing = COMPASS_VIEWS.filter((view) => !shown.has(view));
  return {
    degrees: 360 - missing.length * VIEW_STEP,
    is_complete: missing.length === 0,
    largest_gap_degrees: Math.round(Math.max(...gapsOf(frames)) * 10) / 10,
    missing_views: missing,
  };
}
