import { requestedDetections } from '../shared/requested-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Applies the request's parameters to a segmentation. Live mode and test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { include_mask = false, ...requested } = parameters;
  return { ...result, parts: requestedDetections(result.parts, requested), mask: include_mask ? result.mask : null };
}
