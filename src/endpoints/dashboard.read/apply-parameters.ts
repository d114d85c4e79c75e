import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Makes a reading follow the request's parameters. Live mode and the fixtures of test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { odometer } = result;
  return {
    ...result,
    odometer: odometer && { ...odometer, unit: odometer.unit ?? parameters.unit_hint ?? null },
    warning_lights: parameters.read_warning_lights === false ? [] : result.warning_lights,
  };
}
