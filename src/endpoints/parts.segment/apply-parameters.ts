import { askedDetections } from '../../domain/asked-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Makes a segmentation follow the request's parameters. Live mode and the fixtures of test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { include_mask = false, ...asked } = parameters;
  return { ...result, parts: askedDetections(result.parts, asked), mask: include_mask ? result.mask : null };
}
