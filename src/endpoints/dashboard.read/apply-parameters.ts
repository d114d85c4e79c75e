import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Applies the request's parameters to a reading. Live mode and test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { odometer } = result;
  return {
    ...result,
    odometer: odometer && { ...odometer, unit: odometer.unit ?? parameters.unit_hint ?? null },
    warning_lights: parameters.read_warning_lights === false ? null : result.warning_lights,
  };
}
