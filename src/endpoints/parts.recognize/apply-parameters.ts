import { requestedDetections } from '../shared/requested-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Applies the request's parameters to a recognition. Live mode and test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { max_alternatives = 3, ...requested } = parameters;
  const hint = requested.view_hint === undefined ? {} : { view_hint: requested.view_hint };
  const [mainPart = null] = result.main_part ? requestedDetections([result.main_part], requested) : [];
  return {
    ...result,
    main_part: mainPart,
    parts: requestedDetections(result.parts, requested).map((part) => ({
      ...part,
      alternatives: requestedDetections(part.alternatives, hint).slice(0, max_alternatives),
    })),
  };
}
