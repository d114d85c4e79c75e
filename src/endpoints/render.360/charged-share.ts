import type { Result } from './result.ts';

/** The part of the circle that the frames show. */
export function chargedShare({ coverage }: Pick<Result, 'coverage'>): number {
  return coverage.degrees / 360;
}
