import { DEFAULT_ASPECT_RATIO, type Parameters } from './request.ts';
import type { Result } from './result.ts';

/** A fixture holds its video and poster in every aspect ratio. It is as short as the least `max_duration_seconds`. */
export type Fixture = Omit<Result, 'video' | 'poster' | 'aspect_ratio'> & {
  videos: Record<Result['aspect_ratio'], Pick<Result, 'video' | 'poster'>>;
};

/** Makes a fixture answer the request's parameters. */
export function applyParameters({ videos, ...rest }: Fixture, parameters: Parameters): Result {
  const { aspect_ratio = DEFAULT_ASPECT_RATIO } = parameters;
  return { ...videos[aspect_ratio], ...rest, aspect_ratio };
}
