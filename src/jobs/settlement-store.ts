import type { EventType, InferenceOutcome, JobStatus, TerminalJobStatus } from '../contracts/job.ts';
import { columnsOf, type EntityManager, query } from '../platform/database/orm.ts';
import { Job } from './entities.ts';

export interface JobToSettle {
  job: Job;
  /** The pending outcome; null when there is none. */
  outcome: InferenceOutcome | null;
  /** Enabled webhook endpoints of the job's organisation and mode. */
  listeners: Listener[];
}

/** A webhook endpoint and its subscribed event types. */
export interface Listener {
  id: string;
  events: string[];
}

/** Reads a settlement's inputs in one statement; null when there is no such job. */
export async function readJobToSettle(em: EntityManager, jobId: string): Promise<JobToSettle | null> {
  const [row] = await query<{ outcome: InferenceOutcome | null; listeners: Listener[] } & Record<string, unknown>>(
    em,
    `select ${columnsOf(em, Job)},
       (select outcome from inference_outcomes where job_id = jobs.id) as outcome,
       (select coalesce(json_agg(json_build_object('id', listener.id, 'events', listener.events)), '[]')
        from webhook_endpoints as listener
        where listener.organization_id = jobs.organization_id and listener.livemode = jobs.livemode
          and listener.is_staging = jobs.is_staging and listener.status = 'enabled') as listeners
     from jobs where id = $1`,
    [jobId],
  );
  if (!row) return null;
  const { outcome, listeners, ...columns } = row;
  return { job: em.map(Job, columns), outcome, listeners };
}

export interface TerminalTransition {
  jobId: string;
  /** Statuses that the job may leave; in any other the transition loses and does nothing. */
  from: readonly JobStatus[];
  to: TerminalJobStatus;
  result: unknown;
  error: unknown;
  /** Null keeps the stages unchanged. */
  stages: unknown;
  chargedCredits: number;
  completedAt: Date;
  event: { id: string; type: EventType; payload: string } | null;
  deliveries: readonly { id: string; webhookEndpointId: string }[];
}

/** Ends a job in one statement, which commits, so it cannot run within a transaction. Returns whether it won. */
export async function settleJob(em: EntityManager, transition: TerminalTransition): Promise<boolean> {
  const { event, deliveries } = transition;
  const [row] = await query<{ settled: boolean }>(
    em,
    `call settle_job($1::text, $2::text[], $3::text, $4::json, $5::json, $6::json, $7::bigint, $8::timestamptz,
       $9::text, $10::text, $11::text, $12::text[], $13::text[], null)`,
    [
      transition.jobId,
      transition.from,
      transition.to,
      jsonOrNull(transition.result),
      jsonOrNull(transition.error),
      jsonOrNull(transition.stages),
      transition.chargedCredits,
      transition.completedAt,
      event?.id ?? null,
      event?.type ?? null,
      event?.payload ?? null,
      deliveries.map((delivery) => delivery.id),
      deliveries.map((delivery) => delivery.webhookEndpointId),
    ],
  );
  return row?.settled ?? false;
}

/** Deliveries of a settled job whose workflow has not started. */
export async function readUnstartedDeliveries(em: EntityManager, jobId: string): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    `select webhook_deliveries.id from webhook_deliveries join events on events.id = event_id
     where job_id = $1 and workflow_started_at is null and status = 'pending'`,
    [jobId],
  );
  return rows.map((row) => row.id);
}

function jsonOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
