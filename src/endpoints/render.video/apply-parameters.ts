import { DEFAULT_ASPECT_RATIO, type Parameters } from './request.ts';
import type { Result } from './result.ts';

/** A fixture has its video and poster in every aspect ratio, no longer than the smallest `max_duration_seconds`. */
export type Fixture = Omit<Result, 'video' | 'poster' | 'aspect_ratio'> & {
  videos: Record<Result['aspect_ratio'], Pick<Result, 'video' | 'poster'>>;
};

/** Applies the request's parameters to a fixture. */
export function applyParameters({ videos, ...rest }: Fixture, parameters: Parameters): Result {
  const { aspect_ratio = DEFAULT_ASPECT_RATIO } = parameters;
  return { ...videos[aspect_ratio], ...rest, aspect_ratio };
}
