/** What waits in PostgreSQL, in numbers: for operators, never for customers. */
import { firstIdAt } from '../domain/ids.ts';
import { type EntityManager, query } from './orm.ts';

export interface Backlog {
  openJobs: {
    endpoint: string;
    livemode: boolean;
    status: 'queued' | 'processing';
    jobs: number;
    oldestSeconds: number;
  }[];
  /** Open jobs that should have ended by now. */
  overdueJobs: number;
  /** Jobs and deliveries that no workflow is known to run for. */
  unstarted: { kind: 'job' | 'delivery'; rows: number; oldestSeconds: number }[];
  /** Credits held, and the jobs they are held for. */
  holds: { livemode: boolean; jobs: number; credits: number }[];
  pendingDeliveries: { deliveries: number; oldestSeconds: number };
  disabledEndpoints: number;
}

// Each reads what is open through an index of open rows, one row an organisation, or the last days of the primary key:
// none grows with history.
const SECONDS_SINCE = (column: string) => `coalesce(extract(epoch from now() - min(${column})), 0)::float8`;

const OPEN_JOBS = `
  select endpoint, livemode, status, count(*)::integer as jobs, ${SECONDS_SINCE('created_at')} as "oldestSeconds"
  from jobs where completed_at is null group by endpoint, livemode, status`;
const OVERDUE_JOBS = `select count(*)::integer as jobs from jobs where completed_at is null and due_at < now()`;
const UNSTARTED = `
  select 'job' as kind, count(*)::integer as rows, ${SECONDS_SINCE('created_at')} as "oldestSeconds"
  from jobs where workflow_started_at is null and completed_at is null
  union all
  select 'delivery', count(*)::integer, ${SECONDS_SINCE('created_at')}
  from webhook_deliveries where workflow_started_at is null and status = 'pending'`;
const HOLDS = `
  select livemode, sum(open_jobs)::integer as jobs, sum(held)::float8 as credits
  from credit_accounts group by livemode`;
// A delivery goes on for a day: what is older by far would be an error, and shows while it is not.
const PENDING_DELIVERIES = `
  select count(*)::integer as deliveries, ${SECONDS_SINCE('created_at')} as "oldestSeconds"
  from webhook_deliveries where status = 'pending' and id > $1`;
const DELIVERIES_LOOKED_AT_MS = 3 * 24 * 60 * 60_000;
const DISABLED_ENDPOINTS = `select count(*)::integer as endpoints from webhook_endpoints where status = 'disabled'`;

export async function readBacklog(em: EntityManager): Promise<Backlog> {
  // One after the other: a scrape takes one connection of the pool.
  const openJobs = await query<Backlog['openJobs'][number]>(em, OPEN_JOBS);
  const [overdue] = await query<{ jobs: number }>(em, OVERDUE_JOBS);
  const unstarted = await query<Backlog['unstarted'][number]>(em, UNSTARTED);
  const holds = await query<Backlog['holds'][number]>(em, HOLDS);
  const [pending] = await query<Backlog['pendingDeliveries']>(em, PENDING_DELIVERIES, [
    firstIdAt('webhookDelivery', new Date(Date.now() - DELIVERIES_LOOKED_AT_MS)),
  ]);
  const [disabled] = await query<{ endpoints: number }>(em, DISABLED_ENDPOINTS);
  return {
    openJobs,
    overdueJobs: overdue?.jobs ?? 0,
    unstarted,
    holds,
    pendingDeliveries: pending ?? { deliveries: 0, oldestSeconds: 0 },
    disabledEndpoints: disabled?.endpoints ?? 0,
  };
}
