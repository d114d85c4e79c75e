import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

const DEFAULT_MAX_CANDIDATES = 5;

/** Truncates the list of candidates. Live mode and test mode share it. */
export function applyParameters(result: Result, { max_candidates = DEFAULT_MAX_CANDIDATES }: Parameters): Result {
  return { ...result, candidates: result.candidates.slice(0, max_candidates) };
}
