/** What a measure answers, and which measures there are. */
import type { Effort } from './effort.ts';
import type { Comparison } from './measure.ts';
import { measureAdmission } from './measures/admission.ts';
import { measureInference } from './measures/inference.ts';
import { measureJobQueue } from './measures/job-queue.ts';
import { measureScale } from './measures/scale.ts';
import { measureServiceJobs } from './measures/service-jobs.ts';
import { measureWebhookIsolation } from './measures/webhook-isolation.ts';
import type { BenchContext, Postgres } from './servers.ts';

export interface MeasureResult {
  comparisons: Comparison[];
  /** Invariants that did not hold, in words. */
  broken: string[];
  /** Remarks that belong beside the figures. */
  notes?: string[];
}

export type Measure = (context: BenchContext, postgres: Postgres, effort: Effort) => Promise<MeasureResult>;

/** In the order in which they run. Each starts what it needs and the next finds it stopped. */
export const MEASURES = {
  service: measureServiceJobs,
  admission: measureAdmission,
  webhooks: measureWebhookIsolation,
  scale: measureScale,
  queue: measureJobQueue,
  inference: measureInference,
} as const satisfies Record<string, Measure>;

export type MeasureName = keyof typeof MEASURES;
