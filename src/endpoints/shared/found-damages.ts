/** The damages that an earlier job found, whichever endpoint it ran. */
import type { REPAIR_METHODS } from '../../contracts/vocabulary/damages.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { Result as Detected } from '../damage.detect/result.ts';
import type { Result as Graded } from '../damage.severity/result.ts';
import type { Result as Inspected } from '../inspections/result.ts';

type Grade = Graded['damages'][number]['severity'];

export interface FoundDamage extends Pick<Detected['damages'][number], 'id' | 'type' | 'part' | 'side'> {
  /** Null if the job did not grade the damage. */
  severity: Grade | null;
  repairMethod: (typeof REPAIR_METHODS)[number] | null;
  /** The least of damage, grade and method. */
  confidence: number;
  lengthMm: number | null;
  widthMm: number | null;
}

/** A result of an endpoint that finds damages. */
export type FindsDamages = Detected | Graded | Pick<Inspected, 'parts'>;

/** Reads the result of another job of the same organisation and mode; null if it has been deleted. */
export type ReadResult = (jobId: string) => Promise<unknown>;

/**
 * The result of the job that a parameter names; null if the request leaves it out.
 * @throws ServiceError `input_unreadable` if the result has been deleted
 */
export async function readReference<Result>(
  readResult: ReadResult,
  { parameter, jobId, advice }: { parameter: string; jobId: string | undefined; advice: string },
): Promise<Result | null> {
  if (jobId === undefined) return null;
  const result = await readResult(jobId);
  if (result !== null) return result as Result;
  throw new ServiceError('input_unreadable', `The result of the job in "${parameter}" has been deleted. ${advice}`, {
    param: parameter,
  });
}

/** The damages of a result, in its order. */
export function foundDamages(result: FindsDamages): FoundDamage[] {
  if ('parts' in result) {
    return result.parts.flatMap(({ part, side, damages }) =>
      damages.map((damage) => ({ ...facts({ ...damage, part, side }), ...sizeOf(damage.size) })),
    );
  }
  return result.damages.map((damage: Detected['damages'][number] | Graded['damages'][number]) => ({
    ...facts(damage),
    ...sizeOf('size' in damage ? damage.size : null),
  }));
}

function facts(
  damage: Pick<FoundDamage, 'id' | 'type' | 'part' | 'side'> & {
    confidence?: number;
    severity?: Grade;
    repair_method?: { value: FoundDamage['repairMethod']; confidence: number };
  },
) {
  const { id, type, part, side, confidence = 1, severity = null, repair_method } = damage;
  return {
    id,
    type,
    part,
    side,
    severity,
    repairMethod: repair_method?.value ?? null,
    confidence: Math.min(confidence, severity?.confidence ?? 1, repair_method?.confidence ?? 1),
  };
}

function sizeOf(size: Detected['damages'][number]['size']) {
  return { lengthMm: size?.length_mm ?? null, widthMm: size?.width_mm ?? null };
}
