import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Omits the matte if the request does not want it. Live mode and test mode share it. */
export function applyParameters(result: Result, { include_matte }: Parameters): Result {
  return include_matte === false ? { ...result, matte: null } : result;
}
