import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Omits parts below the requested confidence. Live mode and test mode share it. */
export function applyParameters(result: Result, { min_confidence = 0 }: Parameters): Result {
  return { ...result, parts: result.parts.filter(({ confidence }) => confidence >= min_confidence) };
}
