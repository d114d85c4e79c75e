/** The list of measures. */
import type { Measure } from './measure-result.ts';
import { measureAdmission } from './measures/admission.ts';
import { measureGrowth } from './measures/growth.ts';
import { measureInference } from './measures/inference.ts';
import { measureJobQueue } from './measures/job-queue.ts';
import { measureReading } from './measures/reading.ts';
import { measureScale } from './measures/scale.ts';
import { measureServiceJobs } from './measures/service-jobs.ts';
import { measureTemporalServer } from './measures/temporal-server.ts';
import { measureWebhookIsolation } from './measures/webhook-isolation.ts';

/** In the order of their runs. Each starts what it needs and stops it before the next. */
export const MEASURES = {
  service: measureServiceJobs,
  admission: measureAdmission,
  webhooks: measureWebhookIsolation,
  scale: measureScale,
  queue: measureJobQueue,
  temporal: measureTemporalServer,
  growth: measureGrowth,
  inference: measureInference,
  // Last: it restricts the decoder of this process.
  reading: measureReading,
} as const satisfies Record<string, Measure>;

/** Of a run without `--only`. Growth fills gigabytes, and is kept by itself. */
export const USUAL = (Object.keys(MEASURES) as MeasureName[]).filter((name) => name !== 'growth');

export type MeasureName = keyof typeof MEASURES;
