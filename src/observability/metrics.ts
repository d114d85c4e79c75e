/**
 * The processes' own metrics for Prometheus. Labels have bounded cardinality: routes, endpoints, codes and statuses, never
 * ids. Temporal's SDK serves its own metrics separately.
 */
import { Counter, Histogram, Registry } from 'prom-client';
import type { DeliveryAttempt } from '../contracts/deliver-webhook.ts';
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { TerminalJobStatus } from '../contracts/job.ts';
import type { ShadowEnd } from '../contracts/shadow-job.ts';

export const PREFIX = 'vehicle_inference_';

const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** From a picture on a GPU to a long video, and a queue of an hour. */
const JOB_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600];

/** From a small network on a GPU to a large one on few cores. */
const RUN_BUCKETS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128];

export type Outcome = 'succeeded' | 'failed' | 'cancelled';

export interface SettledJob {
  endpoint: string;
  livemode: boolean;
  status: TerminalJobStatus;
  createdAt: Date;
  /** Null when no worker picked it up. */
  startedAt: Date | null;
  completedAt: Date;
}

/** One step of a job: a stage of a bundle, or the `inference` or `settlement` of any job. */
export interface EndedStage {
  endpoint: string;
  livemode: boolean;
  stage: string;
  status: string;
  durationMs: number;
}

export interface Metrics {
  registry: Registry;
  /** `route` is the template, `/v1/jobs/:id`. */
  requestEnded(request: { method: string; route: string; status: number; durationMs: number }): void;
  requestRefused(code: ErrorCode): void;
  jobAdmitted(job: { endpoint: string; livemode: boolean }): void;
  activityEnded(activity: { name: string; taskQueue: string; outcome: Outcome; durationMs: number }): void;
  inferenceEnded(inference: {
    endpoint: string;
    livemode: boolean;
    /** Absent for stages, which run several models. */
    modelVersion?: string | undefined;
    outcome: Outcome;
    durationMs: number;
  }): void;
  /** The time that a job waited for a process of its model. */
  modelWaited(wait: { modelVersion: string; waitMs: number }): void;
  modelRan(run: {
    modelVersion: string;
    file: string;
    samples: number;
    waitsMs: readonly number[];
    computeMs: number;
  }): void;
  jobSettled(job: SettledJob): void;
  stageEnded(stage: EndedStage): void;
  /** A worker picked up units of a bundle's stage; `queuedMs` is their wait. */
  stagePickedUp(pickUp: Pick<EndedStage, 'endpoint' | 'livemode' | 'stage'> & { queuedMs: number }): void;
  /** A job ran again on a release in the shadow. */
  shadowEnded(
    run: Pick<ShadowEnd, 'outcome' | 'agreed' | 'differing'> & { endpoint: string; modelVersion: string },
  ): void;
  /** `left_out`: nothing was sent, and nothing replaces the attempt. */
  deliveryAttempted(outcome: DeliveryAttempt['outcome'] | 'left_out'): void;
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
    'Time from a request until its response is ready.',
    ['method', 'route', 'status'],
    REQUEST_BUCKETS,
  );
  const refusals = counter('http_refusals_total', 'Requests refused, by error code.', ['code']);
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
    ['endpoint', 'mode', 'model', 'outcome'],
    JOB_BUCKETS,
  );
  const modelQueued = histogram(
    'model_queue_seconds',
    'Time that a job waited for a process of its model.',
    ['model'],
    RUN_BUCKETS,
  );
  const runQueued = histogram(
    'model_run_queue_seconds',
    'Time that a job in a process waited for a run of a network.',
    ['model', 'file'],
    RUN_BUCKETS,
  );
  const runs = histogram('model_run_seconds', 'Time of one run of a network.', ['model', 'file'], RUN_BUCKETS);
  const batches = histogram('model_run_samples', 'Samples of one run of a network.', ['model', 'file'], BATCH_BUCKETS);
  const settled = counter('jobs_settled_total', 'Jobs that a worker ended, by status.', ['endpoint', 'mode', 'status']);
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
    'Time of one step of a job: its inference, its settlement, and each stage of a bundle.',
    ['endpoint', 'mode', 'stage', 'status'],
    JOB_BUCKETS,
  );
  const stageQueued = histogram(
    'stage_queue_seconds',
    'Time that some units of a stage waited for a worker.',
    ['endpoint', 'mode', 'stage'],
    JOB_BUCKETS,
  );
  const shadowRuns = counter('shadow_runs_total', 'Jobs that a release in the shadow ran again, by outcome.', [
    'endpoint',
    'model',
    'outcome',
  ]);
  const shadowFields = counter(
    'shadow_fields_total',
    'Fields of results that were compared with those of a release in the shadow.',
    ['endpoint', 'model', 'field', 'agrees'],
  );
  const attempts = counter('webhook_attempts_total', 'Attempts of webhook deliveries, by outcome.', ['outcome']);

  const stageEnded: Metrics['stageEnded'] = ({ endpoint, livemode, stage, status, durationMs }) =>
    stages.observe({ endpoint, mode: modeOf(livemode), stage, status }, durationMs / 1_000);

  return {
    registry,
    requestEnded: ({ method, route, status, durationMs }) =>
      requests.observe({ method, route, status: String(status) }, durationMs / 1_000),
    requestRefused: (code) => refusals.inc({ code }),
    jobAdmitted: ({ endpoint, livemode }) => admissions.inc({ endpoint, mode: modeOf(livemode) }),
    activityEnded: ({ name, taskQueue, outcome, durationMs }) =>
      activities.observe({ activity: name, task_queue: taskQueue, outcome }, durationMs / 1_000),
    inferenceEnded: ({ endpoint, livemode, modelVersion: model = '', outcome, durationMs }) =>
      inferences.observe({ endpoint, mode: modeOf(livemode), model, outcome }, durationMs / 1_000),
    modelWaited: ({ modelVersion, waitMs }) => modelQueued.observe({ model: modelVersion }, waitMs / 1_000),
    modelRan({ modelVersion, file, samples, waitsMs, computeMs }) {
      const labels = { model: modelVersion, file };
      for (const waitMs of waitsMs) runQueued.observe(labels, waitMs / 1_000);
      runs.observe(labels, computeMs / 1_000);
      batches.observe(labels, samples);
    },
    jobSettled(job) {
      const labels = { endpoint: job.endpoint, mode: modeOf(job.livemode) };
      settled.inc({ ...labels, status: job.status });
      total.observe({ ...labels, status: job.status }, secondsBetween(job.createdAt, job.completedAt));
      if (!job.startedAt) return;
      queued.observe(labels, secondsBetween(job.createdAt, job.startedAt));
      const durationMs = 1_000 * secondsBetween(job.startedAt, job.completedAt);
      stageEnded({ ...job, stage: 'inference', durationMs });
    },
    stageEnded,
    stagePickedUp: ({ endpoint, livemode, stage, queuedMs }) =>
      stageQueued.observe({ endpoint, mode: modeOf(livemode), stage }, Math.max(0, queuedMs) / 1_000),
    shadowEnded({ endpoint, modelVersion: model, outcome, agreed, differing }) {
      shadowRuns.inc({ endpoint, model, outcome });
      for (const field of [...agreed, ...differing]) {
        const isDifferent = differing.includes(field);
        // Both, so that a field that never agrees has a share of 0 and not none.
        shadowFields.inc({ endpoint, model, field, agrees: 'true' }, isDifferent ? 0 : 1);
        shadowFields.inc({ endpoint, model, field, agrees: 'false' }, isDifferent ? 1 : 0);
      }
    },
    deliveryAttempted: (outcome) => attempts.inc({ outcome }),
  };
}

/** Never negative, although the clocks of two machines may differ. */
function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime()) / 1_000;
}
