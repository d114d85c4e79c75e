import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/**
 * Applies the grades of a fixture to the damages of the request, in rotation. Properties that the request states are carried
 * through.
 */
export function applyParameters(result: Result, { damages }: Parameters): Result {
  if (!damages) return result;
  const graded = damages.flatMap((requested, index) => {
    const grade = result.damages[index % result.damages.length];
    if (!grade) return [];
    const { part, side } =
      requested.part === undefined ? grade : { part: requested.part, side: requested.side ?? null };
    const { id = `damage_${index + 1}`, type = grade.type, bbox } = requested;
    return [{ ...grade, id, type, part, side, bbox }];
  });
  return { ...result, damages: graded };
}
