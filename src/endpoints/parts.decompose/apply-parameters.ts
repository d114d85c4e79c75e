import { askedDetections } from '../../domain/asked-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Makes a decomposition follow the request's parameters. Live mode and the fixtures of test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { include_exploded_view = false, ...asked } = parameters;
  const { exploded_view: view } = result;
  const parts = askedDetections(result.parts, asked);
  const isEmpty = parts.length === 0 || view === null;
  return {
    ...result,
    parts,
    exploded_view: isEmpty ? null : { ...view, image: include_exploded_view ? view.image : null },
  };
}
