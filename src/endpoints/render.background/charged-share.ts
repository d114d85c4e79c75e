import type { Result } from './result.ts';

/** A picture without a vehicle costs nothing. */
export function chargedShare({ vehicle }: Pick<Result, 'vehicle'>): number {
  return vehicle ? 1 : 0;
}
