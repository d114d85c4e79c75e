import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Carries `position` through to the result. Live mode and test mode share it. */
export function applyParameters(result: Result, { position }: Parameters): Result {
  return { ...result, position: position ?? null };
}
