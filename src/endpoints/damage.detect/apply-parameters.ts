import { askedDetections } from '../../domain/asked-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Makes detections follow the request's parameters. Live mode and the fixtures of test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { damage_types: types, view_hint } = parameters;
  const hint = view_hint === undefined ? {} : { view_hint };
  return {
    ...result,
    parts_seen: askedDetections(result.parts_seen, hint),
    damages: askedDetections(result.damages, parameters).filter(({ type }) => !types || types.includes(type)),
  };
}
