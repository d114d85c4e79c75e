import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/**
 * Makes the grades of a fixture answer the damages of the request: each is given the grade of one of the fixture's, in
 * turn. What the request says of a damage is carried through.
 */
export function applyParameters(result: Result, { damages }: Parameters): Result {
  if (!damages) return result;
  const graded = damages.flatMap((asked, index) => {
    const grade = result.damages[index % result.damages.length];
    if (!grade) return [];
    const { part, side } = asked.part === undefined ? grade : { part: asked.part, side: asked.side ?? null };
    const { id = `damage_${index + 1}`, type = grade.type, bbox } = asked;
    return [{ ...grade, id, type, part, side, bbox }];
  });
  return { ...result, damages: graded };
}
