import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Leaves out parts that are too uncertain. Live mode and the fixtures of test mode share it. */
export function applyParameters(result: Result, { min_confidence = 0 }: Parameters): Result {
  return { ...result, parts: result.parts.filter(({ confidence }) => confidence >= min_confidence) };
}
