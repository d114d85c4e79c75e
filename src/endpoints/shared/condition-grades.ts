import type { SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import type { CONDITION_GRADES } from '../../contracts/vocabulary/pricing.ts';

/** The grade of a vehicle whose worst damage has the severity. */
export const GRADE_OF_WORST: Readonly<Record<(typeof SEVERITIES)[number], (typeof CONDITION_GRADES)[number]>> = {
  minor: 'B',
  moderate: 'C',
  severe: 'D',
  critical: 'E',
};
