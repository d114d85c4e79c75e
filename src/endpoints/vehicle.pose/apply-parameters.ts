import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Compares the view with the expected one. Live mode and test mode share it. */
export function applyParameters(result: Result, { expected_view }: Parameters): Result {
  return {
    ...result,
    matches_expected_view: expected_view === undefined ? null : result.view?.value === expected_view,
  };
}
