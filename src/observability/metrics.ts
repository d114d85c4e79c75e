/**
 * What the processes count and time themselves, for Prometheus. Labels are bounded: routes, endpoints, codes and
 * statuses, never ids. What Temporal's SDK measures is served apart, by the SDK.
 */
import { Counter, Histogram, Registry } from 'prom-client';
import type { DeliveryAttempt } from '../contracts/deliver-webhook.ts';
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { JobStage, TerminalJobStatus } from '../contracts/job.ts';

export const PREFIX = 'vehicle_inference_';

const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** From a picture on a GPU to a long video, and a queue of an hour. */
const JOB_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600];

export type Outcome = 'succeeded' | 'failed' | 'cancelled';

export interface SettledJob {
  endpoint: string;
  livemode: boolean;
  status: TerminalJobStatus;
  createdAt: Date;
  /** Null when nobody picked it up. */
  startedAt: Date | null;
  completedAt: Date;
  stages: readonly JobStage[] | null;
}

export interface Metrics {
  registry: Registry;
  /** `route` is the template, `/v1/jobs/:id`. */
  requestEnded(request: { method: string; route: string; status: number; durationMs: number }): void;
  requestRefused(code: ErrorCode): void;
  jobAdmitted(job: { endpoint: string; livemode: boolean }): void;
  activityEnded(activity: { name: string; taskQueue: string; outcome: Outcome; durationMs: number }): void;
  inferenceEnded(inference: { endpoint: string; livemode: boolean; outcome: Outcome; durationMs: number }): void;
  jobSettled(job: SettledJob): void;
  deliveryAttempted(outcome: DeliveryAttempt['outcome']): void;
}

/** The label `mode`. */
export const modeOf = (livemode: boolean) => (livemode ? 'live' : 'test');

export function createMetrics(registry = new Registry()): Metrics {
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
    new Histogram({ name: PREFIX + name, help, labelNames, buckets, registers: [registry] });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: PREFIX + name, help, labelNames, registers: [registry] });

  const requests = histogram(
    'http_request_duration_seconds',
    'Time from a request until its answer is ready.',
    ['method', 'route', 'status'],
    REQUEST_BUCKETS,
  );
  const refusals = counter('http_refusals_total', 'Requests answered with an error, by its code.', ['code']);
  const admissions = counter('jobs_admitted_total', 'Jobs admitted.', ['endpoint', 'mode']);
  const activities = histogram(
    'activity_duration_seconds',
    'Time of one attempt of an activity.',
    ['activity', 'task_queue', 'outcome'],
    JOB_BUCKETS,
  );
  const inferences = histogram(
    'inference_duration_seconds',
    'Time of one attempt of an inference, or of some units of a stage: decoding, model and result.',
    ['endpoint', 'mode', 'outcome'],
    JOB_BUCKETS,
  );
  const settled = counter('jobs_settled_total', 'Jobs that a worker ended, by how they ended.', [
    'endpoint',
    'mode',
    'status',
  ]);
  const queued = histogram(
    'job_queue_seconds',
    'Time of a job from its admission to its pick-up.',
    ['endpoint', 'mode'],
    JOB_BUCKETS,
  );
  const total = histogram(
    'job_duration_seconds',
    'Time of a job from its admission to its end.',
    ['endpoint', 'mode', 'status'],
    JOB_BUCKETS,
  );
  const stages = histogram(
    'stage_duration_seconds',
    'Time of one stage of a job that runs in stages.',
    ['endpoint', 'stage', 'status'],
    JOB_BUCKETS,
  );
  const attempts = counter('webhook_attempts_total', 'Attempts of webhook deliveries, by what followed.', ['outcome']);

  return {
    registry,
    requestEnded: ({ method, route, status, durationMs }) =>
      requests.observe({ method, route, status: String(status) }, durationMs / 1_000),
    requestRefused: (code) => refusals.inc({ code }),
    jobAdmitted: ({ endpoint, livemode }) => admissions.inc({ endpoint, mode: modeOf(livemode) }),
    activityEnded: ({ name, taskQueue, outcome, durationMs }) =>
      activities.observe({ activity: name, task_queue: taskQueue, outcome }, durationMs / 1_000),
    inferenceEnded: ({ endpoint, livemode, outcome, durationMs }) =>
      inferences.observe({ endpoint, mode: modeOf(livemode), outcome }, durationMs / 1_000),
    jobSettled(job) {
      const labels = { endpoint: job.endpoint, mode: modeOf(job.livemode) };
      settled.inc({ ...labels, status: job.status });
      total.observe({ ...labels, status: job.status }, secondsBetween(job.createdAt, job.completedAt));
      if (job.startedAt) queued.observe(labels, secondsBetween(job.createdAt, job.startedAt));
      for (const { name, status, started_at, completed_at } of job.stages ?? []) {
        if (started_at === null || completed_at === null) continue;
        stages.observe({ endpoint: job.endpoint, stage: name, status }, completed_at - started_at);
      }
    },
    deliveryAttempted: (outcome) => attempts.inc({ outcome }),
  };
}

/** Clocks of two machines may differ: never below nothing. */
function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime()) / 1_000;
}
