import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Applies the request's parameters to detections. Live mode and test mode share it. */
export function applyParameters(result: Result, { min_confidence = 0 }: Parameters): Result {
  const isConfident = ({ confidence }: { confidence: number }) => confidence >= min_confidence;
  const tires = result.tires.filter(isConfident);
  const wheels = result.wheels.filter(isConfident).map((wheel) => ({
    ...wheel,
    tire_id: tires.some(({ id }) => id === wheel.tire_id) ? wheel.tire_id : null,
  }));
  return { ...result, tires, wheels };
}
