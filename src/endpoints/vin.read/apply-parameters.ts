import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Applies the request's parameters to a reading. Live mode and test mode share it. */
export function applyParameters({ vin }: Result, { validate_check_digit, location_hint }: Parameters): Result {
  if (!vin) return { vin };
  return {
    vin: {
      ...vin,
      location: vin.location ?? location_hint ?? null,
      check_digit: validate_check_digit === false ? null : vin.check_digit,
    },
  };
}
