/** What an inspection says of the vehicle as a whole, by what its views show. Pure. */
import type { CONDITION_GRADES } from '../../contracts/vocabulary/pricing.ts';
import type { Result } from './result.ts';

type Overall = NonNullable<Result['overall']>;
type Severity = NonNullable<Result['parts'][number]['worst_severity']>;

const GRADES: Readonly<Record<Severity, (typeof CONDITION_GRADES)[number]>> = {
  minor: 'B',
  moderate: 'C',
  severe: 'D',
  critical: 'E',
};

interface Judged {
  parts: Result['parts'];
  /** Confidences in the views that went into the inspection. */
  views: readonly number[];
  /** What the gradings of single views say. */
  drivable: readonly Overall['drivable'][];
}

/**
 * The grade is that of the worst damage, as sure as its severity is; without any damage A, as sure as the least sure view. The
 * vehicle can be driven unless a damage is critical, which is what makes it unfit for the road, or a grading says otherwise.
 * Null where no view shows a vehicle.
 */
export function judgeOverall({ parts, views, drivable }: Judged): Result['overall'] {
  if (views.length === 0) return null;
  const leastSure = Math.min(...views);
  const order = Object.keys(GRADES);
  const [worst] = parts
    .flatMap(({ damages }) => damages.map(({ severity }) => severity))
    .toSorted((a, b) => order.indexOf(b.value) - order.indexOf(a.value) || b.confidence - a.confidence);
  const confidence = worst?.confidence ?? leastSure;
  const [against] = drivable.filter(({ value }) => !value).toSorted((a, b) => b.confidence - a.confidence);
  return {
    condition_grade: { value: worst ? GRADES[worst.value as Severity] : 'A', confidence },
    drivable: against ?? { value: worst?.value !== 'critical', confidence },
  };
}
