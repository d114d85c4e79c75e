import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Leaves the matte out where it is not wanted. Live mode and the fixtures of test mode share it. */
export function applyParameters(result: Result, { include_matte }: Parameters): Result {
  return include_matte === false ? { ...result, matte: null } : result;
}
