import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Applies the request's parameters to a reading. Live mode and test mode share it. */
export function applyParameters(result: Result, { validate_check_digit, location_hint }: Parameters): Result {
  const { vin } = result;
  if (!vin) return result;
  return {
    ...result,
    vin: {
      ...vin,
      location: vin.location ?? location_hint ?? null,
      check_digit: validate_check_digit === false ? null : vin.check_digit,
    },
  };
}
