import { requestedDetections } from '../shared/requested-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Applies the request's parameters to detections. Live mode and test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { damage_types: types, view_hint } = parameters;
  const hint = view_hint === undefined ? {} : { view_hint };
  return {
    ...result,
    parts_seen: requestedDetections(result.parts_seen, hint),
    damages: requestedDetections(result.damages, parameters).filter(({ type }) => !types || types.includes(type)),
  };
}
