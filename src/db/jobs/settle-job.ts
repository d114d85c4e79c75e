import type { EventType, InferenceOutcome, JobStatus, TerminalJobStatus } from '../../contracts/job.ts';
import { Job, type WebhookEndpoint } from '../entities.ts';
import { columnsOf, type EntityManager, query } from '../orm.ts';

export interface JobToSettle {
  job: Job;
  /** What the inference left, or null when it left nothing. */
  outcome: InferenceOutcome | null;
  /** Enabled webhook endpoints of the job's organisation and mode. */
  listeners: Listener[];
}

export type Listener = Pick<WebhookEndpoint, 'id' | 'events'>;

/** Reads what a settlement is made from, in one statement; null when there is no such job. */
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
  /** The statuses the job may leave; in any other the transition loses and does nothing. */
  from: readonly JobStatus[];
  to: TerminalJobStatus;
  result: unknown;
  error: unknown;
  /** Null keeps the stages as they are. */
  stages: unknown;
  chargedCredits: number;
  completedAt: Date;
  event: { id: string; type: EventType; payload: string } | null;
  deliveries: readonly { id: string; webhookEndpointId: string }[];
}

/** Ends a job in one statement, which commits: not within a transaction. Answers whether this transition won. */
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

/** Deliveries of a settled job that still await their workflow. */
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
