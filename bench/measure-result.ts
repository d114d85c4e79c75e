/** The result of a measure. */
import type { Effort } from './effort.ts';
import type { Comparison } from './measure.ts';
import type { BenchContext, Postgres } from './servers.ts';

export interface MeasureResult {
  comparisons: Comparison[];
  /** Invariants that did not hold, in words. */
  broken: string[];
  /** Remarks on the figures. */
  notes?: string[];
}

export type Measure = (context: BenchContext, postgres: Postgres, effort: Effort) => Promise<MeasureResult>;
