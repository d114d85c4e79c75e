import { requestedDetections } from '../shared/requested-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Applies the request's parameters to a decomposition. Live mode and test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { include_exploded_view = false, ...requested } = parameters;
  const { exploded_view: view } = result;
  const parts = requestedDetections(result.parts, requested);
  const isEmpty = parts.length === 0 || view === null;
  return {
    ...result,
    parts,
    exploded_view: isEmpty ? null : { ...view, image: include_exploded_view ? view.image : null },
  };
}
