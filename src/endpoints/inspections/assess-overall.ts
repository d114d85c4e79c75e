/** Grades the vehicle as a whole. Pure. */
import { GRADE_OF_WORST } from '../shared/condition-grades.ts';
import type { Result } from './result.ts';

type Overall = NonNullable<Result['overall']>;

interface Assessed {
  parts: Result['parts'];
  /** Confidences of the usable views. */
  views: readonly number[];
  /** The drivable assessments of single views. */
  drivable: readonly Overall['drivable'][];
}

/**
 * The worst damage decides the grade, with the confidence of its severity; without damage the grade is A, with the lowest
 * confidence of the views. The vehicle is drivable unless a damage is critical or a single view was graded not drivable.
 * Null if there is neither a view nor a damage.
 */
export function assessOverall({ parts, views, drivable }: Assessed): Result['overall'] {
  const order = Object.keys(GRADE_OF_WORST);
  const [worst] = parts
    .flatMap(({ damages }) => damages.map(({ severity }) => severity))
    .toSorted((a, b) => order.indexOf(b.value) - order.indexOf(a.value) || b.confidence - a.confidence);
  if (!worst && views.length === 0) return null;
  const confidence = worst?.confidence ?? Math.min(...views);
  const [against] = drivable.filter(({ value }) => !value).toSorted((a, b) => b.confidence - a.confidence);
  return {
    condition_grade: { value: worst ? GRADE_OF_WORST[worst.value] : 'A', confidence },
    drivable: against ?? { value: worst?.value !== 'critical', confidence },
  };
}
